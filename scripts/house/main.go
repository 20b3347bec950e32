// Command house draws the rooms and their imports as SVG: go run ./scripts/house >docs/house.svg.
// It fails if an import goes up.
package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// rooms from the top; imports go down.
var rooms = []string{"cmd", "fleet", "own", "run", "watch", "results", "engine", "lab", "host", "/", "internal"}

const (
	width, height, gap = 150, 30, 14 // px of a box, and between boxes
	left, top          = 20, 20
)

func main() {
	svg, err := house()
	if err != nil {
		fmt.Fprintln(os.Stderr, "house:", err)
		os.Exit(1)
	}
	fmt.Print(svg)
}

func house() (string, error) {
	out, err := exec.CommandContext(context.Background(), "go", "list", "-f", `{{$p := .ImportPath}}{{range .Imports}}{{$p}} {{.}}
{{end}}`, "filewise/...").Output()
	if err != nil {
		return "", fmt.Errorf("go list: %w", err)
	}
	imports := map[[2]int]int{}
	for line := range strings.Lines(string(out)) {
		from, to, _ := strings.Cut(strings.TrimSpace(line), " ")
		a, b := room(from), room(to)
		if a < 0 || b < 0 || a == b {
			continue
		}
		imports[[2]int{a, b}]++
		if a > b && rooms[a] != "internal" && rooms[b] != "/" {
			return "", fmt.Errorf("%s imports %s, which lies above it", from, to)
		}
	}
	return draw(imports), nil
}

// room returns the index of a package's room, or -1 if it belongs to none.
func room(path string) int {
	if path == "filewise" {
		return slices.Index(rooms, "/")
	}
	rest, ours := strings.CutPrefix(path, "filewise/")
	first, _, _ := strings.Cut(rest, "/")
	if !ours || rest == "engine/all" {
		return -1 // the registry is wiring
	}
	return slices.Index(rooms, first)
}

// draw puts the rooms below one another and their imports as arcs next to them, thicker for more imports.
func draw(imports map[[2]int]int) string {
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="14">`+"\n",
		left+width+300, 2*top+len(rooms)*(height+gap))
	b.WriteString("<title>The rooms of Filewise: imports go down</title>\n")
	for i := range rooms {
		for j := range rooms {
			n := imports[[2]int{i, j}]
			if n == 0 || rooms[j] == "/" || rooms[j] == "internal" {
				continue // all import these
			}
			x, from, to := left+width, top+i*(height+gap)+height/2, top+j*(height+gap)+height/2
			bend := x + 30 + 26*(j-i)
			fmt.Fprintf(&b, `<path d="M%d %dC%d %d %d %d %d %d" fill="none" stroke="#57606a" stroke-width="%.1f">`,
				x, from, bend, from, bend, to, x, to, 0.5+min(float64(n)/10, 3))
			fmt.Fprintf(&b, "<title>%s imports %s: %d</title></path>\n", rooms[i], rooms[j], n)
		}
	}
	for i, name := range rooms {
		y := top + i*(height+gap)
		fmt.Fprintf(&b, `<rect x="%d" y="%d" width="%d" height="%d" rx="4" fill="#f6f8fa" stroke="#57606a"/>`, left, y, width, height)
		fmt.Fprintf(&b, `<text x="%d" y="%d" fill="#24292f">%s</text>`+"\n", left+12, y+20, name)
	}
	return b.String() + "</svg>\n"
}
