# SPDX-License-Identifier: BSD-2-Clause
# The page of diff shows a fall as a rise.
# file: src/pages/diff.js
# red: pages diff
s/value < 0 ? '−' : '+'/value < 0 ? '+' : '−'/
