package main

import (
	"os"
	"regexp"
	"slices"
	"testing"
)

// The figure of docs/design.md has the rooms and the imports that there are; counts may differ.
func TestHouse(t *testing.T) {
	t.Chdir("../..")
	svg, err := house()
	if err != nil {
		t.Fatal(err)
	}
	drawn, err := os.ReadFile("docs/house.svg")
	if err != nil {
		t.Fatal(err)
	}
	imports := regexp.MustCompile(`<title>(\w+ imports \w+):|<text[^>]*>([^<]+)`)
	names := func(text string) (all []string) {
		for _, m := range imports.FindAllStringSubmatch(text, -1) {
			all = append(all, m[1]+m[2])
		}
		return all
	}
	if got, want := names(string(drawn)), names(svg); !slices.Equal(got, want) {
		t.Errorf("go run ./scripts/house >docs/house.svg: it has\n%v, not\n%v", got, want)
	}
}
