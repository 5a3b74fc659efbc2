# SPDX-License-Identifier: BSD-2-Clause
# A capture does not say which recording it is: loaded twice, it would count twice.
# file: src/session/origin.c
# red: unit recorder
# case: which recording it is
/CAPTURE_INFO_ID, origin->id/d
