/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/io_source.h"

#include "decode/nvme.h"
#include "session/source.h"

static const struct io_answers *io_answers(const struct session *s)
{
	return s->inside->source->io;
}

int io_source__each_cache(struct session *s, io_cache_fn fn, void *arg)
{
	return io_answers(s)->each_cache ? io_answers(s)->each_cache(s, fn, arg) : 0;
}

int io_source__each_call(struct session *s, io_call_fn fn, void *arg)
{
	return io_answers(s)->each_call ? io_answers(s)->each_call(s, fn, arg) : 0;
}

bool io_source__has_beside(const struct session *s)
{
	return io_answers(s)->has_beside && io_answers(s)->has_beside(s);
}

struct io *io_source__collector(const struct session *s)
{
	return io_answers(s)->collector ? io_answers(s)->collector(s) : NULL;
}

const struct device *io_source__device(struct session *s, const struct io_record *record)
{
	return io_answers(s)->device(s, record);
}

const struct device_list *io_source__devices(const struct session *s)
{
	return io_answers(s)->devices(s);
}

const struct io_origin *io_source__origin(const struct session *s)
{
	static const struct io_origin unknown;

	return io_answers(s)->origin ? io_answers(s)->origin(s) : &unknown;
}

const char *io_source__host(const struct session *s)
{
	return io_source__origin(s)->host;
}

void io_source__stack_losses(const struct session *s, uint64_t *taken, uint64_t *failed)
{
	*taken = *failed = 0;
	if (io_answers(s)->stack_losses)
		io_answers(s)->stack_losses(s, taken, failed);
}

const char *io_source__stack(const struct session *s, const struct io_record *record, bool user)
{
	const struct io_stages *stages = io_record__stages(record);
	struct glossary_id id;

	if (!stages)
		return NULL;
	id.words[0] = user ? stages->user_stack : stages->kernel_stack;
	id.words[1] = user ? record->pid : 0;
	return id.words[0] ? session_text(s, GLOSSARY_STACKS, id) : NULL;
}

const char *io_source__file(const struct session *s, const struct io_stages *stages)
{
	return session__file(s, stages->inode, io_file_place(stages->file_dev, stages->file_nth));
}

char *const *io_source__op_names(const struct session *s)
{
	return io_answers(s)->op_names(s);
}

void io_source__fill(struct session *s, const struct io_record *record, struct command_row *row)
{
	const struct device *device = io_source__device(s, record);

	command_row__fill(row, record,
			  &(struct command_context){
				  .dev = device ? device__shown(device) : NULL,
				  .block_size = device ? device->block_size : 0,
				  .op_names = io_source__op_names(s),
				  .start_ns = s->start_ns,
				  .wall_ns = session__wall_ns(s, io_record__time_ns(record)),
				  .cdw = true,
			  });
}

bool io_source__is_met(struct session *s, const struct condition *condition,
		       const struct io_record *record, struct command_row *row)
{
	if (!condition)
		return true;
	io_source__fill(s, record, row);
	return condition__is_true(condition, row);
}

uint64_t io_source__failovers(const struct session *s, int device)
{
	return device >= 0 && device < SESSION_PATHS ? s->inside->failovers[device] : 0;
}

void io_source_count_failover(struct session *s, const struct io_record *record, int device)
{
	const struct device_list *list = io_source__devices(s);

	if (record->what == RECORD_END && nvme_status__is_path(record->kind, record->status) &&
	    device >= 0 && device < SESSION_PATHS && device__is_leg(&list->devices[device]))
		s->inside->failovers[device]++;
}

bool io_source__sees_nvme(const struct session *s)
{
	return io_answers(s)->sees(s, true);
}

bool io_source__sees_block(const struct session *s)
{
	return io_answers(s)->sees(s, false);
}

void io_source__read(struct session *s, io_row_fn fn, void *arg)
{
	io_answers(s)->read(s, fn, arg);
}

void io_source__take_ledger(struct session *s, uint64_t counted)
{
	io_answers(s)->take_ledger(s, counted);
}
