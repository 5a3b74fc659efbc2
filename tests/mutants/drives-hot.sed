# SPDX-License-Identifier: BSD-2-Clause
# A drive that is too hot is called ill.
# file: src/view/drives_events.c
# red: unit drives_events
# case: health events
s/== ASYNC_TEMPERATURE/== 9/
