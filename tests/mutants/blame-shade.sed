# SPDX-License-Identifier: BSD-2-Clause
# The worst cells are as light as others.
# file: src/pages/blame.js
# red: pages blame
# case: every pair has its cell, with its share, and its shade
s/percent \/ 12.5/percent \/ 25/
