/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * file.h: which file does a bio belong to? In the page cache its first page tells; for direct I/O
 * the function called at its end. A separate program, only where files are told apart.
 */
#ifndef IOSONAR_BPF_FILE_H
#define IOSONAR_BPF_FILE_H

#include "bpf/bio.h"
#include "bpf/names.h"
#include "bpf/page.h"
#include "wire/file_id.h"

TABLE(io_files, struct io_file, 1);

struct file_id {
	__u64 inode;
	__u32 dev;
	struct inode *of; /* NULL: no file */
};

inline_always struct address_space *bio_mapping(struct bio *bio)
{
	__u32 at = BPF_CORE_READ(bio, bi_iter.bi_idx);
	struct bio_vec *vec = BPF_CORE_READ(bio, bi_io_vec);
	struct page *page;

	if (!vec)
		return 0;
	page = BPF_CORE_READ((struct bio_vec *)((void *)vec + at * bpf_core_type_size(*vec)),
			     bv_page);
	return page ? BPF_CORE_READ(page_head(page), mapping) : 0;
}

/* A flush or a discard has no data. */
inline_always bool bio_has_data(struct bio *bio)
{
	return BPF_CORE_READ(bio, bi_iter.bi_size) &&
	       (BPF_CORE_READ(bio, bi_opf) & 0xff) <= REQ_OP_WRITE;
}

inline_always __u32 bio_dev(struct bio *bio)
{
	if (!bpf_core_field_exists(bio->bi_bdev))
		return 0;
	return BPF_CORE_READ(bio, bi_bdev, bd_dev);
}

inline_always bool sent_by(__u64 end_io, enum file_sender sender)
{
	return settings.senders[sender] && end_io == settings.senders[sender];
}

inline_always void file_is(struct file_id *id, struct inode *inode)
{
	__u16 mode = BPF_CORE_READ(inode, i_mode);

	if ((mode & S_IFMT) == S_IFBLK) {
		id->inode = FILE_METADATA;
		id->dev = BPF_CORE_READ(inode, i_rdev);
		return;
	}
	id->inode = BPF_CORE_READ(inode, i_ino);
	id->dev = BPF_CORE_READ(inode, i_sb, s_dev);
	id->of = inode;
}

/* Its pages are not in the page cache, or may be of another file: the sender knows the file. */
inline_always bool file_of_direct(struct file_id *id, struct bio *bio, __u64 end_io)
{
	void *private = BPF_CORE_READ(bio, bi_private);

	if (bpf_core_type_exists(struct iomap_dio) && sent_by(end_io, SENDER_IOMAP)) {
		struct iomap_dio *dio = private;

		file_is(id, BPF_CORE_READ(dio, iocb, ki_filp, f_inode));
	} else if (bpf_core_type_exists(struct dio) &&
		   (sent_by(end_io, SENDER_DIO) || sent_by(end_io, SENDER_DIO_ASYNC))) {
		struct dio *dio = private;

		file_is(id, BPF_CORE_READ(dio, inode));
	} else if (sent_by(end_io, SENDER_DEVICE) || sent_by(end_io, SENDER_DEVICE_SIMPLE) ||
		   sent_by(end_io, SENDER_DEVICE_ASYNC)) {
		id->inode = FILE_DEVICE;
	} else if (sent_by(end_io, SENDER_SWAP_READ) || sent_by(end_io, SENDER_SWAP_WRITE)) {
		id->inode = FILE_SWAP;
	} else {
		return false;
	}
	return true;
}

inline_always void file_of_page(struct file_id *id, struct bio *bio, __u64 end_io)
{
	__u64 mapping = (__u64)bio_mapping(bio);
	__u32 flags = BPF_CORE_READ(bio, bi_opf);

	if (mapping && !(mapping & PAGE_MAPPING_FLAGS)) {
		struct address_space *of = (void *)mapping;

		file_is(id, BPF_CORE_READ(of, host));
	} else if (flags & settings.swap_flag) {
		id->inode = FILE_SWAP;
	} else if (flags & settings.metadata_flag) {
		id->inode = FILE_METADATA;
		id->dev = bio_dev(bio);
	} else if (!mapping) {
		id->inode = FILE_KERNEL;
	} else {
		id->inode = sent_by(end_io, SENDER_WAITS) || sent_by(end_io, SENDER_AWAITS)
				    ? FILE_DEVICE
				    : FILE_DIRECT;
	}
}

/* The verifier checks it separately: inode, its number and device are passed as numbers. */
__attribute__((noinline)) int file_note(__u64 address, __u64 inode, __u32 dev)
{
	const struct file_seen seen = { address, inode, dev, inode_generation((void *)address) };

	return file_find_nth(&io_files, &seen, &counters.no_file);
}

/* whole: the bio that it is a part of, or itself: of a direct I/O only that knows the file. */
inline_always void bio_note_file(struct io_bio *cell, struct bio *bio, struct bio *whole)
{
	__u64 end_io = (__u64)BPF_CORE_READ(whole, bi_end_io);
	struct file_id id = {};

	if (bio_has_data(bio) && !file_of_direct(&id, whole, end_io))
		file_of_page(&id, bio, end_io);
	cell->inode = id.inode;
	cell->file_dev = id.dev;
	cell->file_nth = id.of && id.dev ? file_note((__u64)id.of, id.inode, id.dev) : 0;
}

/* Runs after the program that notes the bio itself. */
inline_always int bio_file(struct bio *bio)
{
	const struct tables t = the_tables();
	struct io_bio *cell = bio_find(&t, bio);

	if (cell)
		bio_note_file(cell, bio, bio);
	return 0;
}

/*
 * The same when its request ends, for one I/O in many: the file is in use until then. A whole bio
 * ends after its parts, but may have no data left by then. The verifier checks it separately.
 */
__attribute__((noinline)) int bio_file_at_end(__u64 bio)
{
	__u32 zero = 0;
	void *bios = bpf_map_lookup_elem(&io_bios, &zero);
	const struct tables t = tables_of(0, bios, 0);
	struct io_bio *cell = bios ? bio_find(&t, (void *)bio) : 0;

	if (cell)
		bio_note_file(cell, (void *)bio, (void *)(cell->is_part ? cell->above : bio));
	return 0;
}

#endif
