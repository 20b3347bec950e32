package run

import (
	"context"
	"fmt"
	"time"

	"github.com/dustin/go-humanize"

	"filewise"
	"filewise/internal/say"
	"filewise/lab/experiment"
)

// BackupCost is the name of the finding about the cost of comparing backups of a database.
const BackupCost = "time and bytes"

// assumedRate is the assumed rate of reading for a backup, in bytes per second, if the server has no record of one.
const assumedRate = 100 << 20

// backupSizer is a server that reports the size of the database to back up (Target.Database).
type backupSizer interface {
	// BackupSize returns the bytes that a backup of the database, or of its part, reads. It returns an error if the part
	// names something that does not exist.
	BackupSize(context.Context) (filewise.BackupSize, error)
}

// backupCost returns a finding about the bytes and the time that comparing backups of the user's database takes.
func (env *Environment) backupCost(ctx context.Context) []filewise.Finding {
	sizer, ok := env.Server.(backupSizer)
	if !ok {
		return nil
	}
	f := filewise.Finding{Check: BackupCost, Status: filewise.StatusNote}
	size, err := Ask(ctx, env.Target, "how large its database is", sizer.BackupSize, nil)
	if err != nil {
		f.Status, f.Detail, f.Remedy = filewise.StatusFailed, err.Error(), filewise.RemedyOf(err)
		return []filewise.Finding{f}
	}
	f.Detail, f.Remedy = costOf(env.Plan, size)
	return []filewise.Finding{f}
}

func costOf(p experiment.Plan, size filewise.BackupSize) (detail, remedy string) {
	n := int64(len(p.Layouts))
	one, by := time.Duration(float64(size.Bytes)/assumedRate*float64(time.Second)), "at 100 MiB/s, an assumption"
	if size.Last > 0 && size.Whole > 0 {
		one, by = time.Duration(float64(size.Last)*float64(size.Bytes)/float64(size.Whole)), "as fast as the server's last full backup"
	}
	bytes := func(n int64) string { return humanize.IBytes(uint64(n)) }
	blocks := p.FirstClaim()
	first := time.Duration(n) * time.Duration(blocks) * one
	detail = fmt.Sprintf("a backup reads %s, about %s %s; %d settings read %s a block, and the first verdict, after %d blocks, takes about %s",
		bytes(size.Bytes), say.Human(one), by, n, bytes(n*size.Bytes), blocks, say.Human(first))
	if p.Target.Part != nil {
		detail += fmt.Sprintf("; this is %s of the database's %s: what depends on the rest (its other files, its compression) is not seen",
			say.Share(float64(size.Bytes), float64(size.Whole)), bytes(size.Whole))
	}
	if p.Budget > 0 && first > p.Budget {
		remedy = "filewise backup --screen 3 with --part NAME (repeatable; on SQL Server also without, by backups to NUL) compares all " +
			"settings at less cost first, and only the fastest 3 in full"
	}
	return detail, remedy
}
