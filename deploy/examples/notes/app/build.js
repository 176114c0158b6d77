// The build script: makes the page of notes.json. The platform runs it once for each commit, before the image is made.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'

const notes = JSON.parse(readFileSync('notes.json', 'utf8'))
const escapeHtml = text => text.replace(/[&<>"']/g, character => `&#${character.charCodeAt(0)};`)

mkdirSync('public', { recursive: true })
writeFileSync(
  'public/index.html',
  `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Notes</title>
<h1>Notes</h1>
<ul>
${notes.map(note => `<li>${escapeHtml(note)}</li>`).join('\n')}
</ul>
</html>
`,
)
console.log(`${notes.length} notes in public/index.html`)
