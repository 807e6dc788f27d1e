#!/bin/sh
# Run once by the image of PostgreSQL, as its superuser, on an empty disk: the database of all homes
# and the login that owns it, which makes the roles and logins of pages and workers.
set -eu
psql --no-psqlrc --quiet --set ON_ERROR_STOP=1 --set password="$WAKELOG_PASSWORD" \
    --username "$POSTGRES_USER" --dbname postgres <<'SQL'
CREATE ROLE wakelog LOGIN CREATEROLE PASSWORD :'password';
CREATE DATABASE wakelog OWNER wakelog;
SQL
