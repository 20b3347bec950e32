package main

import "testing"

// A variable's value is bytes: what is no text is found in a message like any other.
func TestNamedIsOfBytes(t *testing.T) {
	t.Setenv("FILEWISE_STORE", "/\xff/s.db")
	a := app{variables: []string{"store"}}
	if got, _ := a.named("--store /\xff/s.db: gone", ""); got != "FILEWISE_STORE=/\xff/s.db: gone" {
		t.Errorf("%q", got)
	}
}
