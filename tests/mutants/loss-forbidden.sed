# SPDX-License-Identifier: BSD-2-Clause
# --allow-loss has no effect.
# file: src/session/session.c
# red: cli replay
# case: a capture that is cut is shown
s/return whole || s->options->run.allow_loss ? EXIT_DONE : EXIT_LOST;/return whole ? EXIT_DONE : EXIT_LOST;/
