package filewise

import (
	"errors"
	"testing"
)

func TestBackupOptions(t *testing.T) {
	o := BackupOptions("").With("zip", "a").With("buffer", "1").With("zip", "b")
	if o != "buffer=1,zip=b" {
		t.Errorf("options %q", o)
	}
	if v, ok := o.Get("zip"); v != "b" || !ok {
		t.Errorf("zip is %q, %v", v, ok)
	}
	if v, ok := o.Get("zi"); v != "" || ok {
		t.Errorf("zi is %q, %v", v, ok)
	}
	known := []BackupOption{{"buffer", "1 or 2", OneOf("1", "2")}, {"zip", "a or b", OneOf("a", "b")}}
	if err := o.Check(known); err != nil {
		t.Error(err)
	}
	for _, bad := range []BackupOptions{o.With("zip", "c"), o.With("new", "1")} {
		if err := bad.Check(known); CodeOf(err) != CodeUsage || RemedyOf(err) == "" {
			t.Errorf("%s: %v", bad, err)
		}
	}
	if err := o.Check(nil); !errors.Is(err, ErrUnsupported) {
		t.Errorf("where there are none: %v", err)
	}
}
