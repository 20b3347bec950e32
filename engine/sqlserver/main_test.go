package sqlserver

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"filewise"
	"filewise/internal/marker"
	"filewise/lab/workload"
)

// wire is every different statement that a test's server has received.
var wire = struct {
	sync.Mutex
	texts map[string]bool
}{texts: map[string]bool{}}

// TestMain gives all that went over the wire to the grammar and the rules of
// safety, after the tests.
func TestMain(m *testing.M) {
	code := m.Run()
	if code == 0 && len(wire.texts) > 0 {
		code = checkWire()
	}
	os.Exit(code)
}

func checkWire() int {
	var all []string
	for text := range wire.texts {
		all = append(all, text)
	}
	slices.Sort(all)
	var errs []string
	for _, text := range all {
		if why := checkHarmless(text, marker.IsName); why != "" {
			errs = append(errs, why+":\n"+text)
		}
	}
	if program := parserPath(); program != "" {
		for _, version := range grammars {
			wrong, err := parseAll(context.Background(), program, version, all)
			if err != nil {
				errs = append(errs, err.Error())
			}
			for n, why := range wrong {
				errs = append(errs, "sent, but refused: "+why+"\n"+all[n])
			}
		}
	}
	for _, e := range errs {
		fmt.Println(e)
	}
	fmt.Printf("%d different statements went over the wire, and are right by the grammars of %s\n", len(all), strings.Join(grammars, ", "))
	if len(errs) > 0 {
		return 1
	}
	return 0
}

// lab is a test's server with its model.
type lab struct {
	t      *testing.T
	model  *model
	wire   *Server
	target filewise.Target
}

func newLab(t *testing.T, change func(*model)) *lab {
	t.Helper()
	m := newModel()
	if change != nil {
		change(m)
	}
	s, err := Start(m)
	if err != nil {
		t.Fatal(err)
	}
	m.connected = func(database string) bool {
		return slices.ContainsFunc(s.Sessions(), func(c *Session) bool { return c.Login.Database == database })
	}
	t.Cleanup(func() {
		s.Close()
		wire.Lock()
		defer wire.Unlock()
		for _, text := range s.Received() {
			// What the driver, FreeTDS and tests of the driver say is not the adapter's.
			if !strings.Contains(text, "INSERT BULK") && !strings.Contains(text, "FMTONLY") && text != ";" {
				wire.texts[text] = true
			}
		}
	})
	return &lab{t, m, s, filewise.Target{Engine: engineName, Mode: filewise.External, Durability: filewise.DurabilityFull,
		Volumes: []filewise.Volume{{Name: "default"}},
		Address: &filewise.Address{Scheme: engineName, Host: "127.0.0.1", Port: s.Port(), User: "filewise",
			Password: filewise.Secret(m.password),
			Options:  map[string]string{"encrypt": "disable"}}}}
}

func (l *lab) open() *externalServer {
	l.t.Helper()
	s, err := Engine{}.Open(l.t.Context(), l.target)
	if err != nil {
		l.t.Fatalf("%v; %s", err, filewise.RemedyOf(err))
	}
	l.t.Cleanup(func() {
		if err := s.Close(); err != nil {
			l.t.Error(err)
		}
	})
	return s.(*externalServer)
}

func (l *lab) build(s *externalServer, layout filewise.Layout, w filewise.Workload) *filewise.Database {
	l.t.Helper()
	db, err := s.Build(l.t.Context(), layout, w.Program())
	if err != nil {
		l.t.Fatalf("%v; %s", err, filewise.RemedyOf(err))
	}
	return db
}

// names returns the databases that the model has.
func (l *lab) names() []string {
	l.model.mu.Lock()
	defer l.model.mu.Unlock()
	var all []string
	for name := range l.model.databases {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}

// add puts a database into the model.
func (l *lab) add(name string, change func(*modelDatabase)) {
	d := &modelDatabase{name: name, properties: map[string]string{}, rows: map[string]map[int64]string{}, procedures: map[string]*procedure{},
		state: "ONLINE", access: true, age: 60, files: []modelFile{{"a", `D:\` + name + "_1.mdf", "ROWS", "PRIMARY", 8192, 64}}}
	if change != nil {
		change(d)
	}
	l.model.mu.Lock()
	defer l.model.mu.Unlock()
	l.model.databases[name] = d
}

func inserts(t *testing.T, change func(*workload.Params)) filewise.Workload {
	t.Helper()
	w, err := workload.NewInserts(params(change), 1)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func layout(files int) filewise.Layout {
	return filewise.Layout{Name: filewise.FilesName(files), Kind: filewise.KindFilegroup, Rank: files,
		Data: filewise.Spread{Files: files, Bytes: 64 << 20, Allocation: filewise.Preallocated, Placement: filewise.PlaceOne}}
}

// work inserts n rows with every connection at once.
func work(t *testing.T, ctx context.Context, db *filewise.Database, p filewise.Program, ledger filewise.Ledger, n int64) []error {
	t.Helper()
	errs := make([]error, p.Connections())
	var wg sync.WaitGroup
	for w := range p.Connections() {
		s, err := db.Connect(t.Context(), 0, w)
		if err != nil {
			t.Fatal(err)
		}
		wg.Go(func() {
			defer s.Close()
			var done int64
			done, errs[w] = s.Do(ctx, ledger[w], n)
			ledger[w] += done
		})
	}
	wg.Wait()
	return errs
}

func ok(t *testing.T, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatalf("%v; %s", err, filewise.RemedyOf(err))
		}
	}
}

// soon polls until f is true.
func soon(t *testing.T, what string, f func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !f(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not within 30 s", what)
		}
	}
}
