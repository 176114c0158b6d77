import { expect, test } from 'vitest'
import { simpleCommands } from './simple-commands.ts'

test.each<[string, readonly string[]]>([
  ['node server.js', ['node server.js']],
  ['exec node server.js', ['node server.js']],
  ['NODE_ENV=production A="b c" node x.js', ['node x.js']],
  ['cd api && node server.js', ['cd api', 'node server.js']],
  ["node -e 'console.log(1)' | pino-pretty", ['node -e console.log(1)', 'pino-pretty']],
  ['node "my server.js" &\nnode w.js', ['node my server.js', 'node w.js']],
])('the commands of %j are %j', (line, expected) => {
  expect(simpleCommands(line)?.map(words => words.map(({ text }) => text).join(' '))).toEqual(expected)
})

test.each([
  ['one of two', 'node a.js || node b.js'],
  ['a condition', '[ -f x ] && node x.js'],
  ['a test by its program', 'command -v pm2 && pm2 start'],
  ['an if', 'if true\nthen node a.js\nfi'],
  ['a substitution', 'node $(cat entry)'],
  ['a redirection', 'node a.js > /dev/null'],
  ['a group', '(node a.js)'],
  ['a list that goes on after an error', 'a; node b.js'],
  ['an open quote', "node 'a.js"],
])('%s is left to the shell', (_what, line) => {
  expect(simpleCommands(line)).toBeUndefined()
})

test('words in which the shell puts something are not certain', () => {
  const [words = []] = simpleCommands("node $FILE '$FILE' dist/*.js plain") ?? []
  expect(words.map(({ certain }) => certain)).toEqual([true, false, true, false, true])
})
