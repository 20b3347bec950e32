package postgres

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

	"filewise/engine/internal/archive"
)

// lowLevel are the statements that begin and end a backup whose files are copied by
// somebody else (PostgreSQL's documentation, 26.3.3 “Making a Base Backup Using the
// Low Level API”).
func lowLevel(version int) (start, stop string) {
	if version >= 150000 {
		return "SELECT pg_walfile_name(pg_backup_start('filewise', true))", "SELECT pg_walfile_name(lsn), labelfile FROM pg_backup_stop(false)"
	}
	return "SELECT pg_walfile_name(pg_start_backup('filewise', true, " +
		"false))", "SELECT pg_walfile_name(lsn), labelfile FROM pg_stop_backup(false, false)"
}

// stripes copies the running server's files into the layout's backup files.
func (b *backuper) stripes(ctx context.Context) (err error) {
	all, err := b.openStripes()
	defer func() {
		for _, s := range all {
			err = errors.Join(err, s.Close())
		}
	}()
	if err != nil {
		return err
	}
	if err := b.fillStripes(ctx, all); err != nil {
		return err
	}
	eg := errgroup.Group{}
	for _, s := range all {
		eg.Go(s.Finish)
	}
	if err := eg.Wait(); err != nil || b.build.design.layout.Discard {
		return err
	}
	for n, s := range all {
		if err := b.addFile(b.volumeOf(n), s.Path); err != nil {
			return err
		}
	}
	return nil
}

// openStripes makes the backup files; of a backup that is thrown away it opens what
// takes it.
func (b *backuper) openStripes() (all []*archive.Stripe, err error) {
	d := b.build.design
	for n := range d.layout.Backup.Files {
		dir := b.instance.sites.dirs[b.volumeOf(n)]
		path := filepath.Join(dir, backupDir, fmt.Sprintf("stripe-%d.tar", n+1))
		switch {
		case d.layout.Discard:
			path = os.DevNull
		case d.compresses():
			path += archive.Gzipped
		}
		s, err := archive.Create(dir, path)
		if err != nil {
			return all, err
		}
		all = append(all, s)
	}
	return all, nil
}

// fillStripes copies between the begin and the end of a backup. The session that begins
// it must end it, and its end without that undoes it.
func (b *backuper) fillStripes(ctx context.Context, all []*archive.Stripe) error {
	return b.build.link.With(ctx, func(conn *pgx.Conn) error {
		start, stop := lowLevel(b.instance.install.Number)
		var first, last, label string
		if err := b.build.link.Done(ctx, start, conn.QueryRow(ctx, start).Scan(&first)); err != nil {
			return err
		}
		members, err := b.instance.members()
		if err == nil {
			err = archive.Copy(ctx, members, all, b.build.design.buffer())
		}
		if err != nil {
			_ = conn.Close(context.WithoutCancel(ctx))
			return err
		}
		if err := b.build.link.Done(ctx, stop, conn.QueryRow(ctx, stop).Scan(&last, &label)); err != nil {
			return err
		}
		return b.complete(all[0], first, last, label)
	})
}

// members are what a backup holds: the data directory and the tablespaces.
func (i *instance) members() ([]archive.Member, error) {
	spaces, err := i.tablespaces()
	if err != nil {
		return nil, err
	}
	skip := func(rel string) bool { return skips(filepath.Base(rel)) }
	all, err := archive.Walk(i.sites.dirs[i.sites.home], i.sites.dataDir(), "", skip,
		func(rel string) bool { return slices.Contains(skippedIn, rel) })
	for number, n := range spaces {
		if err == nil {
			var more []archive.Member
			more, err = archive.Walk(i.sites.dirs[n], i.sites.spaceDir(n), spacesDir+"/"+number, skip, func(string) bool { return false })
			all = append(all, more...)
		}
	}
	return all, err
}

// complete adds what makes the copy consistent: the label from which recovery
// begins, and the WAL from the backup's begin to its end.
func (b *backuper) complete(s *archive.Stripe, first, last, label string) error {
	if err := s.AddText(labelFile, label); err != nil {
		return err
	}
	segments, err := os.ReadDir(b.instance.sites.walDir())
	if err != nil {
		return err
	}
	buf := make([]byte, usualBuffer)
	found := false
	for _, e := range segments {
		if name := e.Name(); len(name) != len(first) || name < first || name > last {
			continue
		}
		found = found || e.Name() == first
		info, err := e.Info()
		if err == nil {
			at := b.instance.sites
			err = s.Add(archive.Member{Name: logDir + "/" + e.Name(), Dir: at.dirs[at.log], Path: filepath.Join(at.walDir(), e.Name()),
				Info: info}, buf)
		}
		if err != nil {
			return err
		}
	}
	if !found {
		return fmt.Errorf("the WAL segment %s, in which the backup begins, is gone", first)
	}
	return nil
}
