package managed

import (
	"errors"
	"strings"
	"testing"

	"filewise"
	"filewise/engine/innodb/dialect"
)

// Without mydumper a dump is refused, and the package named that brings it.
func TestDumpWithoutMydumper(t *testing.T) {
	was := myloader
	t.Cleanup(func() { myloader = was })
	myloader.Names = []string{"no-such-myloader"}
	d := &design{Design: dialect.Design{Product: &dialect.Product{Title: "MySQL"},
		Schema: dialect.Schema{Program: filewise.Program{Phases: []filewise.Phase{{Act: filewise.ActBackup,
			Logical: true}}}}, Layout: filewise.Layout{Kind: filewise.KindPartitions}}}
	err := d.checkBackup()
	if !errors.Is(err, filewise.ErrUnsupported) || filewise.CodeOf(err) != filewise.CodePreflight ||
		!strings.Contains(err.Error(), "no-such-myloader") || !strings.Contains(filewise.RemedyOf(err), "apt-get install mydumper") {
		t.Errorf("%v; %s", err, filewise.RemedyOf(err))
	}
}
