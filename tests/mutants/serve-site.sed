# SPDX-License-Identifier: BSD-2-Clause
# A page of another site may ask for the API.
# file: src/serve/answer.c
# red: unit serve_host
s/return head->site \&\& page != ANSWER_PAGE \&\&/return head->site \&\& page == ANSWER_LINE \&\&/
