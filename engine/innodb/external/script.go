package external

import (
	"filewise"
	"filewise/engine/innodb/dialect"
	"filewise/engine/internal/mark"
	"filewise/engine/internal/script"
)

// databaseRoom is what a database takes besides its rows, on each volume: undo, the
// redo log as far as it grows, temporary tables.
const databaseRoom = 32 * dialect.MiB

// Script says what a build would create and execute. It connects to nothing.
func (d Engine) Script(t filewise.Target, l filewise.Layout, p filewise.Program) (filewise.Script, error) {
	if t.Address == nil {
		return filewise.Script{}, filewise.Errorf(filewise.CodeInternal, "", "a target without an address")
	}
	if _, err := d.config(*t.Address); err != nil {
		return filewise.Script{}, err
	}
	if t.Database != "" {
		return d.ownScript(t, l, p)
	}
	g, err := newDesign(d.Product, t, l, p, mark.PlanName, usualPage)
	if err != nil {
		return filewise.Script{}, err
	}
	all, err := steps(g, "Made by Filewise, which drops it: keep nothing here. {…}")
	return filewise.Script{Files: dialect.Asked(g.All()), Warnings: g.Warnings, Space: space(g), Steps: all.Plan(nil)}, err
}

// steps are those of a trial, on a database that is marked with a text.
func steps(g *dialect.Design, text string) (script.Steps, error) {
	on := g.Target.Address.String()
	w := g.Writer(on)
	w.Rendered(filewise.StageBuild, on, creation, create(g.Product, g.Database, text), nil)
	objects, err := g.Create()
	w.AddAll(filewise.StageBuild, on, objects, err)
	w.Add(filewise.StageExtend, on, g.Rebuild()...)
	w.Add(filewise.StageSettle, on, g.FlushForExport("LOCAL "), "UNLOCK TABLES")
	g.WriteLoad(w, on)
	g.WriteWork(w, on)
	w.Add(filewise.StageDrain, on, g.FlushForExport("LOCAL "), "UNLOCK TABLES")
	w.Add(filewise.StageDrop, on, markQuery(g.Product, dialect.Literal(g.Database)), "DROP DATABASE "+dialect.Ident(g.Database))
	return w.Steps()
}

// space is the room on each volume: the layout's size, or the work's where that
// is more. A rebuild holds the data twice for a while.
func space(g *dialect.Design) map[string]int64 {
	space := map[string]int64{}
	need := int64(0)
	if p := g.Program; !p.Appends() {
		need = g.Bytes(g.Page) * 11 / 10
	} else if p.First().OpBytes > 0 {
		keys := dialect.Overtaking
		if p.Table().RandomKeys {
			keys = dialect.Random
		}
		rows := dialect.Rows{PageSize: g.Page, Payload: p.First().OpBytes, Keys: keys}
		need = int64(1.1 * float64(p.WorkBytes) / float64(p.First().OpBytes) * rows.BytesPerRow())
	}
	each := max(need, g.Layout.Data.Bytes)/int64(len(g.All())) + 4*dialect.MiB // a file grows by up to 4 MiB at a time
	for i, f := range g.All() {
		space[f.Volume] += each
		if i == 0 && g.Layout.AddedLater == filewise.LaterRebuilt {
			space[f.Volume] += g.Layout.Data.Bytes / int64(g.Layout.Data.Files)
		}
	}
	for _, v := range g.Target.Volumes {
		if _, used := space[v.Name]; used {
			space[v.Name] += databaseRoom
		}
	}
	return space
}
