package sqlserver

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"

	"filewise"
)

// Facts returns the version, the settings that affect what is measured, and the options of every build.
func (s *externalServer) Facts(ctx context.Context) ([]filewise.Fact, error) {
	facts, err := s.serverFacts(ctx)
	return append(facts, s.buildFacts()...), err
}

func (s *externalServer) serverFacts(ctx context.Context) ([]filewise.Fact, error) {
	i := s.identity
	facts := []filewise.Fact{
		{Name: "server", Value: "external, " + s.target.Address.String()},
		{Name: "instance", Value: i.serverName},
		{Name: "version", Value: fmt.Sprintf("SQL Server %s (%s %s)", i.version, i.versionText, i.level)},
		{Name: "edition", Value: i.edition},
		{Name: "operating system", Value: string(i.data.System)},
		{Name: "adapter", Value: Unproven},
		{Name: "allocation", Value: i.version.allocation()},
	}
	if m, err := ask(ctx, s.control, "machine", nil); err == nil {
		facts = append(facts, filewise.Fact{Name: "processors", Value: strconv.FormatInt(m.Int("cpus"), 10)},
			filewise.Fact{Name: "memory", Value: humanize.IBytes(uint64(m.Int("memory_kb")) * kib)})
		if target, ok := m.Number("target_kb"); ok {
			facts = append(facts, filewise.Fact{Name: "memory that the server aims at", Value: humanize.IBytes(uint64(target) * kib)})
		}
	} else if !denied(err) {
		return nil, s.login.explain(err)
	}
	configured, err := s.configuration(ctx)
	if err != nil {
		return nil, err
	}
	facts = append(facts, configured...)
	inherited, err := s.inherited(ctx)
	if err != nil {
		return nil, err
	}
	facts = append(facts, inherited...)
	if t, err := s.readTempdb(ctx); err == nil && len(t.files) > 0 {
		facts = append(facts, filewise.Fact{Name: "tempdb", Value: t.String()})
	}
	return facts, nil
}

// buildFacts returns the options that are set in every build's database, and nowhere else.
func (s *externalServer) buildFacts() []filewise.Fact {
	durability := "DISABLED: every commit waits for the log"
	if late, _ := delayed(s.target.Durability); late {
		durability = "FORCED: a crash may lose the last commits"
	}
	set, _ := readSettings(s.target.Settings) // Open has read them
	facts := []filewise.Fact{
		{Name: "recovery model", Value: "SIMPLE: the log is reused after each checkpoint, and no log backup is made"},
		{Name: "delayed durability", Value: durability},
		{Name: "pinned", Value: "Query Store off, READ_COMMITTED_SNAPSHOT off, no update of statistics by itself, page " +
			"checksums, target recovery time 60 s; a copy of --from keeps its own"},
		{Name: "log growth", Value: humanize.IBytes(uint64(set.logGrowth)) + ", of dml --as-published 1.0 MiB"},
	}
	if set.mixedPages {
		facts = append(facts, filewise.Fact{Name: settingMix, Value: "on"})
	}
	all := "on, of dml --as-published off"
	if set.growAll != nil {
		all = map[bool]string{true: "on", false: "off"}[*set.growAll]
	}
	facts = append(facts, filewise.Fact{Name: settingAll, Value: all})
	return facts
}

// inherited returns what builds inherit from model.
func (s *externalServer) inherited(ctx context.Context) ([]filewise.Fact, error) {
	r, err := ask(ctx, s.control, "inherited", map[string]any{"Recovery": s.identity.version.major >= 15})
	if err != nil {
		return nil, s.login.explain(fmt.Errorf("what model has: %w", err))
	}
	level, _ := r.Number("compatibility")
	on := map[bool]string{true: "on", false: "off"}
	return []filewise.Fact{{Name: "compatibility level", Value: strconv.FormatInt(level, 10)}, {Name: "collation", Value: r.Text("collation")},
		{Name: "automatic statistics", Value: on[r.Yes("statistics_made")]},
		{Name: "forced parameterization", Value: on[r.Yes("forced_parameters")]},
		{Name: "encrypted", Value: on[r.Yes("encrypted")]},
		{Name: "accelerated database recovery", Value: on[r.Yes("recovery")]}, {Name: "trace flags", Value: s.traceFlags(ctx)}}, nil
}

// traceFlags returns the server's global trace flags, which affect every build.
func (s *externalServer) traceFlags(ctx context.Context) string {
	rows, err := askAll(ctx, s.control, "trace-flags", nil)
	if err != nil {
		return "not known: " + s.login.explain(err).Error()
	}
	var all []string
	for _, r := range rows {
		if n, ok := r.Number("TraceFlag"); ok && r.Yes("Global") {
			all = append(all, strconv.FormatInt(n, 10))
		}
	}
	return cmp.Or(strings.Join(all, ", "), "none")
}

// configuration returns the server's settings. They are only read.
func (s *externalServer) configuration(ctx context.Context) ([]filewise.Fact, error) {
	rows, err := askAll(ctx, s.control, "configuration", nil)
	if err != nil {
		return nil, s.login.explain(fmt.Errorf("configuration: %w", err))
	}
	var facts []filewise.Fact
	for _, r := range rows {
		if n, ok := r.Number("value"); ok {
			facts = append(facts, filewise.Fact{Name: r.Text("name"), Value: strconv.FormatInt(n, 10)})
		}
	}
	return facts, nil
}
