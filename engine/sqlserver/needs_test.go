package sqlserver

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"filewise"
	"filewise/engine/enginetest"
	"filewise/internal/longtest"
	"filewise/internal/marker"
	"filewise/own/capture"
	"filewise/own/inspect"
)

// ownRows are views that show every login what is its own, and the rest with VIEW SERVER STATE.
var ownRows = []string{"sys.dm_exec_sessions", "sys.dm_exec_requests", "sys.dm_exec_session_wait_stats"}

// viewing has of batches, without names and texts, which rights to see the server's state they take from 2022 on. A test of
// its own fills it.
var (
	viewingMu sync.Mutex
	viewing   = map[string][]string{}
	buildName = regexp.MustCompile(`filewise_[a-z0-9]{18}`)
)

// secured are views that take VIEW SERVER SECURITY STATE from 2022 on; the others take VIEW SERVER PERFORMANCE STATE.
var secured = []string{"sys.dm_server_services"}

// rightsOf returns the rights that a batch takes on a version.
func rightsOf(known enginetest.Catalogue, q Request, major int) (all []string) {
	for _, s := range statements(q.SQL) {
		switch s.kind {
		case "CREATE DATABASE", "RESTORE DATABASE", "RESTORE HEADER":
			all = append(all, mayCreate)
		case "SET ONLINE":
			all = append(all, mayOnline)
		case "BACKUP DATABASE":
			if !strings.Contains(q.SQL, "BACKUP DATABASE [filewise_") {
				all = append(all, mayBackUp)
			}
		}
	}
	key := buildName.ReplaceAllString(quoted.ReplaceAllString(q.SQL, "''"), "x")
	views, seen := viewing[key]
	if !seen {
		for view := range known.Use(q.SQL).Views {
			switch {
			case known[view].Permission != mayView || slices.Contains(ownRows, view):
			case slices.Contains(secured, view):
				views = append(views, maySecurity)
			default:
				views = append(views, mayPerformance)
			}
		}
		viewing[key] = views
	}
	if len(views) > 0 && major < divided {
		views = []string{mayView}
	}
	all = append(all, views...)
	if strings.Contains(q.SQL, "FROM msdb.dbo.backupset") {
		all = append(all, mayHistory)
	}
	if in := q.Session.Login.Database; in != "master" && in != "" && !marker.IsName(in) {
		all = append(all, mayRead)
	}
	return all
}

// catalogued is read once.
func catalogued(t *testing.T) enginetest.Catalogue {
	t.Helper()
	if viewsKnown == nil {
		viewsKnown = enginetest.ReadCatalogue(t, "testdata/catalogue.txt")
	}
	return viewsKnown
}

var viewsKnown enginetest.Catalogue

// strict has a model of a version grant exactly some rights. Nil means all. It returns what is taken, and what was refused.
func strict(t *testing.T, m *model, version string, granted []string) (taken map[string]bool, refused *[]string) {
	t.Helper()
	has := func(right string) bool { return granted == nil || slices.Contains(granted, right) }
	v, err := parseVersion(version)
	ok(t, err)
	m.version, m.create, m.alterAny = version, has(mayCreate), has(mayOnline)
	m.view, m.performance, m.security = v.major < divided && has(mayView), has(mayPerformance), has(maySecurity)
	known := catalogued(t)
	taken, refused = map[string]bool{}, &[]string{}
	numbers := map[string]int32{mayCreate: errDenied, mayView: errDeniedState, mayPerformance: errDeniedState,
		maySecurity: errDeniedState, mayOnline: 5011, mayBackUp: errDenied, mayRead: errNoAccess, mayHistory: 229}
	m.exact = func(q Request) int32 {
		viewingMu.Lock()
		defer viewingMu.Unlock()
		for _, right := range rightsOf(known, q, v.major) {
			if taken[right] = true; !has(right) {
				*refused = append(*refused, right+" for "+short(q.SQL))
				return numbers[right]
			}
		}
		return 0
	}
	return taken, refused
}

// looked returns what doctor does, and each run at first.
func looked(t *testing.T, lab *lab) (*externalServer, error) {
	opened, err := Engine{}.Open(t.Context(), lab.target)
	if err != nil {
		return nil, err
	}
	s := opened.(*externalServer)
	s.Examine(t.Context(), filewise.Demand{Layouts: []filewise.Layout{layout(1)}, Program: inserts(t, nil).Program(),
		Space: map[string]int64{"default": 1}})
	_, err = s.Facts(t.Context())
	return s, err
}

// TestNeeds: the matrix of rights of each version has what the statements of each command take and nothing else; with exactly these
// nothing is refused, and with those alone that it cannot do without, each command works or a part of it is absent.
func TestNeeds(t *testing.T) {
	versions, version := []string{"15.0.2000.5", "16.0.4085.2"}, ""
	if longtest.Wanted() {
		versions = append(versions, "13.0.5026.0", "14.0.1000.169", "17.0.1000.7")
	}
	ran := func(l life) func(*testing.T, []string) (map[string]bool, []string, error) {
		return func(t *testing.T, granted []string) (map[string]bool, []string, error) {
			lab := l.start(t)
			taken, refused := strict(t, lab.model, version, granted)
			s, err := looked(t, lab)
			if err != nil {
				return taken, *refused, err
			}
			defer s.Close()
			held, err := s.Lock(t.Context(), filewise.Holder{Who: "me"})
			if err == nil {
				_, other := s.Lock(t.Context(), filewise.Holder{Who: "another"})
				if filewise.CodeOf(other) != filewise.CodeBusy {
					err = fmt.Errorf("two measure: %w", other)
				}
				_, active := s.Activity(t.Context())
				err = errors.Join(err, active, held.Release())
			}
			l.steps = func(steps func(*filewise.Database) []func(context.Context) error) func(*filewise.Database) []func(context.Context) error {
				return func(db *filewise.Database) []func(context.Context) error {
					return append(steps(db), func(ctx context.Context) error {
						for _, p := range db.Probes {
							if _, err := p.Read(ctx); err != nil {
								return err
							}
						}
						return nil
					})
				}
			}(l.steps)
			return taken, *refused, errors.Join(err, l.live(t, lab))
		}
	}
	commands := map[string]func(*testing.T, []string) (map[string]bool, []string, error){
		"doctor": func(t *testing.T, granted []string) (map[string]bool, []string, error) {
			lab := newLab(t, nil)
			taken, refused := strict(t, lab.model, version, granted)
			s, err := looked(t, lab)
			if err == nil {
				err = s.Close()
			}
			return taken, *refused, err
		},
		"clean": func(t *testing.T, granted []string) (map[string]bool, []string, error) {
			lab := newLab(t, nil)
			for _, state := range []string{"ONLINE", "OFFLINE"} {
				name := marker.NewName()
				lab.add(name, func(d *modelDatabase) {
					d.state, d.objects, d.properties["filewise"] = state, 5, enginetest.DeadMarker(t, name, false)
				})
			}
			taken, refused := strict(t, lab.model, version, granted)
			told := clean(t, lab)
			var err error
			if left := lab.names(); len(left) > 0 && !strings.Contains(told, "ALTER DATABASE ["+left[0]+"] SET ONLINE") {
				err = errors.New(told)
			}
			return taken, *refused, err
		},
		"backup": func(t *testing.T, granted []string) (map[string]bool, []string, error) {
			o := newOwnLab(t, nil)
			taken, refused := strict(t, o.model, version, granted)
			s, err := Engine{}.Open(t.Context(), o.target)
			if err != nil {
				return taken, *refused, err
			}
			defer s.Close()
			s.(*ownServer).Examine(t.Context(), filewise.Demand{})
			_, err = s.Facts(t.Context())
			_, sized := s.(*ownServer).BackupSize(t.Context())
			err = errors.Join(err, sized)
			db, failed := s.Build(t.Context(), ownLayout(1), ownProgram(t, o.model.create))
			if err = errors.Join(err, failed); err != nil {
				return taken, *refused, err
			}
			_, err = db.Backup.Backup(t.Context())
			if err == nil && o.model.create {
				err = errors.Join(db.Backup.Restore(t.Context()), db.Backup.Verify(t.Context()))
			}
			return taken, *refused, errors.Join(err, db.Backup.Discard(t.Context()))
		},
		"inspect": func(t *testing.T, granted []string) (map[string]bool, []string, error) {
			lab := newLab(t, func(m *model) { inspectedServer().answer(t, m) })
			taken, refused := strict(t, lab.model, version, granted)
			_, err := inspect.Facts(t.Context(), Engine{}, lab.target)
			return taken, *refused, err
		},
		"capture": func(t *testing.T, granted []string) (map[string]bool, []string, error) {
			s := newShop(t)
			s.texts = map[string]int{"UPDATE orders SET status = N'done' WHERE id = 17": 50}
			taken, refused := strict(t, s.lab.model, version, granted)
			// Without the right the Query Store counts.
			s.storing = granted != nil && !slices.Contains(granted, mayView) && !slices.Contains(granted, mayPerformance)
			w, err := capturing(t).Watch(t.Context(), s.lab.target, "shop")
			if err == nil {
				_, err = capture.Take(t.Context(), capturing(t), w, capture.Options{Values: true, Engine: "sqlserver", Database: "shop"})
				err = errors.Join(err, w.Close())
			}
			return taken, *refused, err
		},
		"apply": func(t *testing.T, granted []string) (taken map[string]bool, all []string, err error) {
			var refused *[]string
			_, err = migrate(t, applied(), func(lab *lab, _ *filewise.Wish) { taken, refused = strict(t, lab.model, version, granted) })
			return taken, *refused, err
		},
	}
	for _, l := range lives(t) {
		command := map[string]string{"tables": "run", "offline and online": "run --measure lifecycle",
			"empty buffers": "run scan --cache buffer-cold", "restored": "run custom --from", "backup": "run, of backups"}[l.name]
		if command != "" {
			commands[command] = ran(l)
		}
	}
	for _, version = range versions {
		v, err := parseVersion(version)
		ok(t, err)
		on := slices.DeleteFunc(slices.Clone(needs), func(n filewise.Need) bool {
			return v.major < n.From || n.Until != 0 && v.major > n.Until
		})
		for command, do := range commands {
			command, _, _ = strings.Cut(command, ", ")
			taken, _, err := do(t, nil)
			if err != nil {
				t.Errorf("%s: %s: %v", version, command, err)
			}
			enginetest.SameNeeds(t, on, command, taken)
			_, refused, err := do(t, enginetest.RightsOf(on, command, false))
			if err != nil || len(refused) > 0 {
				t.Errorf("%s: %s with exactly its rights: %v, refused %q", version, command, err, refused)
			}
			least := enginetest.RightsOf(on, command, true)
			if _, refused, err = do(t, least); err != nil {
				t.Errorf("%s: %s with the least rights: %v, refused %q", version, command, err, refused)
			}
			for _, right := range least {
				if _, _, err := do(t, enginetest.Without(least, right)); err == nil {
					t.Errorf("%s: %s works without %s", version, command, right)
				}
			}
		}
	}
	enginetest.NeedsDocumented(t, "../../docs/engine-sqlserver.md", "sqlserver", needs)
}
