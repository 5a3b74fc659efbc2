# SPDX-License-Identifier: BSD-2-Clause
# In OpenMetrics the first attempt is a retry.
# file: src/export/openmetrics.c
# red: cli export
# case: failures and retries of the metrics
s/r->attempts > 1 ? r->attempts - 1u : 0/r->attempts > 1 ? r->attempts : 0/
