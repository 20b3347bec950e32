package external

import (
	"filewise"
	"filewise/engine/internal/innodb"
	"filewise/engine/internal/mark"
	"filewise/workload"
)

// ownRoom is what a database takes besides its rows, on each volume: undo, the
// redo log as far as it grows, temporary tables.
const ownRoom = 32 * innodb.MiB

// Script says what a build would create and execute. It connects to nothing.
func (d *Dialect) Script(t filewise.Target, l filewise.Layout, p filewise.Program) (filewise.Script, error) {
	if t.Address == nil {
		return filewise.Script{}, filewise.Errorf(filewise.CodeInternal, "", "a target without an address")
	}
	if _, err := d.config(*t.Address); err != nil {
		return filewise.Script{}, err
	}
	g, err := d.newDesign(t, l, p, mark.PlanName, usualPage)
	if err != nil {
		return filewise.Script{}, err
	}
	s := filewise.Script{Files: g.files, Warnings: g.warnings, Space: g.space()}
	add := func(stage string, statements ...string) {
		for _, text := range statements {
			s.Steps = append(s.Steps, filewise.Step{Stage: stage, On: t.Address.String(), SQL: text})
		}
	}
	add(filewise.StageBuild, d.creation(mark.PlanName, "Made by Filewise, which drops it: keep nothing here. {…}")...)
	create, err := g.schema.Create()
	if err != nil {
		return filewise.Script{}, err
	}
	add(filewise.StageBuild, create...)
	add(filewise.StageLoad, g.rebuild()...)
	add(filewise.StageSettle, g.flush(), "UNLOCK TABLES")
	steps, err := g.schema.Steps()
	if err != nil {
		return filewise.Script{}, err
	}
	for _, step := range steps {
		add(step.Stage, step.SQL)
	}
	add(filewise.StageDrain, g.flush(), "UNLOCK TABLES")
	add(filewise.StageDrop, d.markQuery(innodb.Literal(mark.PlanName)), "DROP DATABASE "+innodb.Ident(mark.PlanName))
	return s, nil
}

// space is the room on each volume: the layout's size, or the work's where that
// is more. A rebuild holds the data twice for a while.
func (g *design) space() map[string]int64 {
	space := map[string]int64{}
	need := int64(0)
	if p := g.schema.Program; len(p.Phases) > 0 {
		need = g.schema.Bytes(g.page) * 11 / 10
	} else if p.OpBytes > 0 {
		keys := innodb.Overtaking
		if p.Vars["Key"] == workload.KeyRandom {
			keys = innodb.Random
		}
		rows := innodb.Rows{PageSize: g.page, Payload: p.OpBytes, Keys: keys}
		need = int64(1.1 * float64(p.WorkBytes) / float64(p.OpBytes) * rows.BytesPerRow())
	}
	each := max(need, g.layout.Data.Bytes)/int64(len(g.files)) + 4*innodb.MiB // a file grows by up to 4 MiB at a time
	for i, f := range g.files {
		space[f.Volume] += each
		if i == 0 && g.layout.AddedLater == filewise.LaterRebuilt {
			space[f.Volume] += g.layout.Data.Bytes / int64(g.layout.Data.Files)
		}
	}
	for _, v := range g.target.Volumes {
		if _, used := space[v.Name]; used {
			space[v.Name] += ownRoom
		}
	}
	return space
}
