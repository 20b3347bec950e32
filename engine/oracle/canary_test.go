package oracle

import (
	"context"
	"database/sql"
	"strings"
	"testing"

	"filewise"
)

// A server that would not let the layouts be dropped is found out by one small
// tablespace, which clean removes later; on any other nothing stays.
func TestCanary(t *testing.T) {
	ctx := context.Background()
	d, err := newDesign(serverTarget(filewise.Volume{Name: "a", Dir: "/u02"}), smallfile(4), testProgram(t, small), newNames(false), 16*kib)
	if err != nil {
		t.Fatal(err)
	}
	one, err := d.canary(newNames(false))
	if err != nil || len(one.files) != 1 || one.files[0].bytes != 256*kib || !strings.HasPrefix(one.files[0].path, "/u02/filewise_") ||
		one.names == d.names {
		t.Fatalf("%+v, %v", one, err)
	}
	f := newFake()
	if err := f.markers().canary(ctx, one); err != nil || len(f.tablespaces) > 0 || len(f.unchecked) > 0 {
		t.Errorf("%v, left %v, unchecked %v", err, f.tablespaces, f.unchecked)
	}
	f = newFake()
	f.fails["drop"] = oracleError(errRestorePoint)
	err = explain(f.markers().canary(ctx, one))
	if filewise.CodeOf(err) != filewise.CodePreflight || !strings.Contains(filewise.RemedyOf(err), "restore point") ||
		len(f.tablespaces) != 1 {
		t.Errorf("with a guaranteed restore point: %v (%s), left %v", err, filewise.RemedyOf(err), f.tablespaces)
	}
	delete(f.fails, "drop") // the restore point is gone
	if err := f.markers().dropBuild(ctx, one.names.Tablespace); err != nil || len(f.tablespaces) > 0 {
		t.Errorf("afterwards: %v, left %v", err, f.tablespaces)
	}
	f = newFake()
	f.fails["mark"] = oracleError(1013)
	if err := f.markers().canary(ctx, one); err == nil || len(f.tablespaces) > 0 {
		t.Errorf("interrupted: %v, left %v", err, f.tablespaces)
	}
}

// Nothing is built before it is known that a tablespace can be dropped again, and that is tried once.
func TestCanaryComesFirst(t *testing.T) {
	c := &counting{refuses: "CREATE "}
	db := sql.OpenDB(c)
	defer db.Close()
	s := &server{target: serverTarget(filewise.Volume{Name: "a", Dir: "/u02"}), about: about{block: usualBlock}, control: newFake(),
		pool: &pool{db: db, lasting: db}}
	tried := func() bool {
		_, err := s.Build(t.Context(), smallfile(1), testProgram(t, small))
		if err == nil {
			t.Fatal("it is built though nothing can be created")
		}
		return strings.Contains(err.Error(), "trying whether")
	}
	if !tried() {
		t.Error("a layout is built before it is tried whether it can be dropped")
	}
	if s.canary.lives = true; tried() {
		t.Error("it is tried again")
	}
}
