// The program of the container `build`, run by a shell with a buildctl that writes down what it is asked.
// Source of the options: https://github.com/moby/buildkit/blob/master/docs/reference/buildctl.md
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'

const program = readFileSync(join(import.meta.dirname, 'programs', 'build-image'), 'utf8')
const digest = `sha256:${'c'.repeat(64)}`
const commit = 'a'.repeat(40)

const buildctl = `#!/bin/sh
[ "$1" = build ] || exit 0
printf '%s\\n' "$@" > ROOT/asked
for word in "$@"; do case "$word" in --metadata-file=*) printf '{\\n  "containerimage.digest": "${digest}"\\n}' > "\${word#*=}" ;; esac; done
`

/**
 * A container whose root is a folder, with the volume of the build's secrets as the kubelet writes it: links to a folder of the
 * present version.
 */
function container(secrets: Readonly<Record<string, string>>) {
  const root = mkdtempSync(join(tmpdir(), 'sekisho-build-image-'))
  onTestFinished(() => rmSync(root, { recursive: true }))
  for (const folder of ['workspace/source/web', 'run/secrets', 'tmp', 'dev', 'bin'])
    mkdirSync(join(root, folder), { recursive: true })
  writeFileSync(join(root, 'workspace', 'commit'), commit)
  const names = Object.keys(secrets)
  const folder = join(root, 'run', 'secrets', 'build')
  if (names.length > 0) mkdirSync(join(folder, '..2026_01_01'), { recursive: true })
  if (names.length > 0) symlinkSync('..2026_01_01', join(folder, '..data'))
  for (const name of names) {
    writeFileSync(join(folder, '..2026_01_01', name), secrets[name] ?? '')
    symlinkSync(join('..data', name), join(folder, name))
  }
  writeFileSync(join(root, 'bin', 'buildctl'), buildctl.replaceAll('ROOT', root))
  chmodSync(join(root, 'bin', 'buildctl'), 0o755)
  const here = program.replace(/(?<=[=\s">])\/(workspace|run\/secrets|tmp|dev\/termination-log)/g, `${root}/$1`)
  return {
    root,
    build(subPath: string, ...words: readonly string[]) {
      const env = { PATH: `${join(root, 'bin')}:${process.env['PATH']}`, SUB_PATH: subPath }
      const { status, stdout } = spawnSync('sh', ['-c', here, 'build-image', ...words], { env, encoding: 'utf8' })
      return { status, stdout, asked: () => readFileSync(join(root, 'asked'), 'utf8').split('\n') }
    },
  }
}

test('each value of the secrets is named as the file that holds it, and no value is an argument', () => {
  const { root, build } = container({ NPM_TOKEN: 'hunter2', URL: 'https://u:hunter2@example.com' })
  const { status, asked } = build('web', '--opt=filename=Dockerfile')
  expect(status).toBe(0)
  expect(asked().filter(word => word.startsWith('--secret'))).toEqual([
    `--secret=id=NPM_TOKEN,src=${root}/run/secrets/build/NPM_TOKEN`,
    `--secret=id=URL,src=${root}/run/secrets/build/URL`,
  ])
  expect(asked()).toContain('--opt=filename=Dockerfile')
  expect(asked()).toContain(`--local=context=${root}/workspace/source/web`)
  expect(asked()).toContain(`--opt=label:org.opencontainers.image.revision=${commit}`)
  expect(asked().join()).not.toContain('hunter2')
  expect(readFileSync(join(root, 'dev', 'termination-log'), 'utf8')).toBe(digest)
})

test('a build without secrets names none', () => {
  const { status, asked } = container({}).build('')
  expect(status).toBe(0)
  expect(asked().filter(word => word.startsWith('--secret'))).toEqual([])
})

test('a link in the repository does not lead to the files of the container', () => {
  const { root, build } = container({ NPM_TOKEN: 'hunter2' })
  symlinkSync(join(root, 'run', 'secrets'), join(root, 'workspace', 'source', 'stolen'))
  const { status, stdout } = build('stolen')
  expect([status, stdout]).toEqual([1, 'error: the folder stolen is not in the repository\n'])
})
