package terminal

import (
	"strings"

	"rsc.io/qr"
)

// quietZone is how many modules around a QR code are light.
const quietZone = 2

// Code shows a text as a QR code, for a phone to read. Where there is no terminal, or no room on it for the whole code,
// nothing is shown.
func (p *Printer) Code(text string) {
	code, err := qr.Encode(text, qr.L)
	if err != nil || !p.able || p.out.terminal == nil { // it is too long, or nobody sees it
		return
	}
	drawn := drawCode(code.Size, code.Black, p.colours)
	if columns, rows := p.size(); code.Size+2*quietZone > columns || len(drawn) >= rows {
		return
	}
	p.show(prompted, strings.Join(drawn, "\n")+"\n")
}

// drawCode draws the modules of a square, two rows in each line. Without colours a terminal is taken for dark.
func drawCode(size int, dark func(x, y int) bool, colours bool) (lines []string) {
	blocks, begin, end := [...]string{" ", "▀", "▄", "█"}, "\x1b[30;107m", "\x1b[m"
	if !colours {
		blocks, begin, end = [...]string{"█", "▄", "▀", " "}, "", ""
	}
	for y := -quietZone; y < size+quietZone; y += 2 {
		var line strings.Builder
		for x := -quietZone; x < size+quietZone; x++ {
			shape := 0
			if dark(x, y) {
				shape |= 1
			}
			if dark(x, y+1) {
				shape |= 2
			}
			line.WriteString(blocks[shape])
		}
		lines = append(lines, begin+line.String()+end)
	}
	return lines
}
