# SPDX-License-Identifier: BSD-2-Clause
# Data that are read for the first time count as read again.
# file: src/why/pages.c
# red: unit why
# case: 2 GiB are read again
s/p->index.nr == before/p->index.nr != before/
