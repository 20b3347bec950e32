package run

import (
	"os"
	"path/filepath"
	"testing"
)

func TestSeal(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	k := sealKeyIn(dir)
	if k.Is("", "a") || k.Is("00", "a") {
		t.Error("there is no key yet")
	}
	s, err := k.Of("a", 1)
	if err != nil {
		t.Fatal(err)
	}
	again, err := sealKeyIn(dir).Of("a", 1)
	if err != nil || again != s || !sealKeyIn(dir).Is(s, "a", 1) {
		t.Errorf("the same is sealed otherwise: %s, %s, %v", s, again, err)
	}
	for name, other := range map[string]bool{
		"other parts": k.Is(s, "a", 2), "order": k.Is(s, 1, "a"), "none": k.Is("", "a", 1),
		"another host's": sealKeyIn(t.TempDir()).Is(s, "a", 1),
		"no place":       sealKey{}.Is(s, "a", 1),
	} {
		if other {
			t.Errorf("%s: taken for its own", name)
		}
	}
	if info, err := os.Stat(filepath.Join(dir, "seal-key")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the key: %v %v", info, err)
	}
	if err := os.Chmod(filepath.Join(dir, "seal-key"), 0o644); err != nil {
		t.Fatal(err)
	}
	if k.Is(s, "a", 1) { // everybody may have sealed it
		t.Error("a key that others may read counts")
	}
}
