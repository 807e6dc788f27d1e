"""The notebooks there are, told without loading what they draw with."""

NOTEBOOKS = ("trust", "wakes", "rejections", "odd_wake", "costs")
