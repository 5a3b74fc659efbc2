# Two of thousands of commands that are tried again are a cause. The near misses have some such.
# file: src/why/rule_retries.c
# red: unit why
s/RETRIES_FEW = 5/RETRIES_FEW = 1/
s/retries_least = 0.05/retries_least = 0.001/
