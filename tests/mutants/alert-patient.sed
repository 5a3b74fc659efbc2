# SPDX-License-Identifier: BSD-2-Clause
# The alert of a stuck command waits until the driver has given up.
# file: contrib/prometheus/iosonar.rules.yml
# red: cli contrib
# case: each alert fires
/alert: IosonarStuck/,/labels:/ s/^        labels:/        for: 30s\n&/
