package sqlserver

import (
	"context"

	"filewise"
	"filewise/engine/internal/external"
)

// untried are sections that a self-check leaves alone: they would leave a file on
// the server that SQL cannot remove.
var untried = []string{"backup-files", "backup-header", "restore", "drop-restoring"}

// selfLayout tries every statement that builds: two files, of which one is added
// later, and indexes apart.
func selfLayout() filewise.Layout {
	return filewise.Layout{Name: "2 files added later, indexes apart", Kind: filewise.KindFilegroup, AddedLater: filewise.LaterRebuilt,
		Indexes: filewise.IndexesApart,
		Data:    filewise.Spread{Files: 2, Bytes: 32 * mib, Allocation: filewise.Preallocated, Growth: mib}}
}

// SelfCheck tries every statement once on scratch databases, which it drops.
func (s *externalServer) SelfCheck(ctx context.Context, report func(filewise.Finding)) {
	loaded := selfLayout()
	loaded.Name, loaded.AddedLater = "2 files, indexes apart", ""
	check := external.SelfCheck{Server: s, Report: report, Explain: s.login.explain,
		Layouts: []filewise.Layout{selfLayout()}, Loaded: loaded, Besides: besides}
	check.Run(ctx)
	for _, section := range untried {
		report(filewise.Finding{Check: "statement " + section, Status: filewise.StatusNote,
			Detail: "not tried: it would leave a file on the server"})
	}
}

// besides are statements of backups that leave nothing.
func besides(db *filewise.Database) []external.Step {
	b := db.Dropper.(*build)
	return []external.Step{
		{Name: "back it up to NUL", Optional: true, Do: func(ctx context.Context) error {
			return b.server.backup(ctx, b.design.name, transfer{stripes: []string{null}})
		}},
		{Name: "the server's own check", Optional: true, Do: func(ctx context.Context) error {
			return do(ctx, b.inside, "check-database", map[string]any{"Name": b.design.name})
		}},
	}
}
