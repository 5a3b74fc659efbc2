# SPDX-License-Identifier: BSD-2-Clause
# In OpenMetrics a command that ended well has failed.
# file: src/export/openmetrics.c
# red: cli export
# case: failures and retries of the metrics
s/sum->failed += r->status != 0;/sum->failed += r->status == 0;/
