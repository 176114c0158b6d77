// The programs of a build's containers, run by a shell with phases of the lifecycle that write down what they are asked.
// Source of the options: https://github.com/buildpacks/spec/blob/main/platform.md#lifecycle-interface
import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'

const digest = `sha256:${'c'.repeat(64)}`
const folders = [
  'workspace',
  'layers',
  'projectMetadata',
  'build-tools',
  'tmp',
  'dev',
  'bin',
  'cnb/lifecycle',
  'usr/local/lib/sekisho',
]

/** A container whose root is a folder, with a program for each phase: its text, in which ROOT is that folder. */
function container(phases: Readonly<Record<string, string>>) {
  const root = mkdtempSync(join(tmpdir(), 'sekisho-phases-'))
  onTestFinished(() => rmSync(root, { recursive: true }))
  for (const folder of folders) mkdirSync(join(root, folder), { recursive: true })
  const path = (name: string): string => join(root, name)
  const asked = (name: string): readonly string[] =>
    readFileSync(path(`asked-${name}`), 'utf8')
      .trimEnd()
      .split('\n')
  for (const [name, text] of Object.entries(phases)) {
    const file = name === 'build-init' ? path('bin/build-init') : path(`cnb/lifecycle/${name}`)
    writeFileSync(file, `#!/bin/sh\nprintf '%s\\n' "$@" >ROOT/asked-${name}\n${text}\n`.replaceAll('ROOT/', `${root}/`))
    chmodSync(file, 0o755)
  }
  writeFileSync(path('bin/busybox'), 'busybox')
  writeFileSync(path('usr/local/lib/sekisho/build'), 'program')
  return {
    path,
    asked,
    run(program: string, environment: Readonly<Record<string, string>>, ...words: readonly string[]) {
      const text = readFileSync(join(import.meta.dirname, program), 'utf8').replace(
        /(?<=[=\s">])\/(workspace|layers|projectMetadata|build-tools|tmp|dev\/termination-log|cnb|bin\/busybox|usr\/local\/lib)/g,
        `${root}/$1`,
      )
      const env = { PATH: `${path('bin')}:${process.env['PATH']}`, ...environment }
      const { status, stdout, stderr } = spawnSync('sh', ['-c', text, program, ...words], { env, encoding: 'utf8' })
      return { status, output: stdout + stderr }
    },
  }
}

const environment = {
  IMAGE_TAG: 'r/acme/shop:shop-1',
  CACHE_IMAGE: 'r/acme/shop:cache-1',
  RUN_IMAGE: `r/cnb/run@${digest}`,
  PREVIOUS_IMAGE: '',
  BUILDPACKS: 'platform/prepare sekisho/node',
}
const prepared = {
  'build-init': 'echo \'commit = "good"\' >ROOT/projectMetadata/project-metadata.toml',
  analyzer: 'echo \'reference = "good"\' >ROOT/tmp/analyzed.toml; [ "$CNB_USER_ID:$CNB_GROUP_ID" = "$(id -u):$(id -g)" ]',
  restorer: 'cat ROOT/tmp/group.toml >ROOT/restored',
}

test('prepare fetches, analyzes and restores the layers of every buildpack of the builder, in this order', () => {
  const { run, asked, path } = container(prepared)
  expect(run('prepare', environment, '-dockerconfig=secret')).toMatchObject({ status: 0 })
  expect(asked('build-init')).toEqual(['-dockerconfig=secret'])
  expect(asked('analyzer')).toContain(`-run-image=${environment.RUN_IMAGE}`)
  expect(asked('analyzer').at(-1)).toBe(environment.IMAGE_TAG)
  expect(asked('analyzer').some(word => word.startsWith('-previous-image'))).toBe(false)
  expect(readFileSync(path('restored'), 'utf8').match(/id = ".*"/g)).toEqual(['id = "platform/prepare"', 'id = "sekisho/node"'])
  expect(readFileSync(path('projectMetadata/stack.toml'), 'utf8')).toBe(`[run-image]\n  image = "${environment.RUN_IMAGE}"\n`)
  expect(readFileSync(path('build-tools/build'), 'utf8')).toBe('program')
  expect(readFileSync(path('layers/analyzed.toml'), 'utf8')).toBe('reference = "good"\n')
})

test('the previous image is one argument, whatever is in its name', () => {
  const { run, asked } = container(prepared)
  expect(run('prepare', { ...environment, PREVIOUS_IMAGE: 'r/x -log-level=debug' })).toMatchObject({ status: 0 })
  expect(asked('analyzer')).toContain('-previous-image=r/x -log-level=debug')
})

test('what a restored layer wrote outside of its folder reaches no later container', () => {
  const hostile = `
ln -s ROOT/layers ROOT/build-tools/busybox
ln -s ROOT/layers/elsewhere ROOT/build-tools/build
ln -sf ROOT/layers/elsewhere ROOT/layers/analyzed.toml
mkdir ROOT/projectMetadata/.hidden
for name in project-metadata analyzed stack; do ln -sf ROOT/layers/elsewhere ROOT/projectMetadata/$name.toml; done
echo 'reference = "evil"' >ROOT/tmp/analyzed.toml`
  const { run, path } = container({ ...prepared, restorer: hostile })
  expect(run('prepare', environment)).toMatchObject({ status: 0 })
  expect(existsSync(path('layers/elsewhere'))).toBe(false)
  expect(existsSync(path('projectMetadata/.hidden'))).toBe(false)
  const handed = (name: string): string => readFileSync(path(`projectMetadata/${name}.toml`), 'utf8')
  expect([handed('project-metadata'), handed('analyzed')]).toEqual(['commit = "good"\n', 'reference = "good"\n'])
  expect(readFileSync(path('build-tools/busybox'), 'utf8')).toBe('busybox')
  expect(readFileSync(path('layers/analyzed.toml'), 'utf8')).toBe('reference = "good"\n')
})

test.each([
  ['build-init', 1],
  ['analyzer', 32],
  ['restorer', 42],
])('prepare ends as %s ended: by this the step is known', (phase, code) => {
  const { run } = container({ ...prepared, [phase]: `exit ${code}` })
  expect(run('prepare', environment)).toMatchObject({ status: code })
})

test('build runs detection, then the build with the bindings, and ends as they ended', () => {
  const phases = { detector: '! env | grep -q SERVICE_BINDING_ROOT', builder: 'echo "bindings in $SERVICE_BINDING_ROOT"' }
  const { run } = container(phases)
  expect(run('build', {})).toEqual({ status: 0, output: 'bindings in /platform/bindings\n' })
  expect(container({ ...phases, detector: 'exit 20' }).run('build', {})).toEqual({ status: 20, output: '' })
  expect(container({ ...phases, builder: 'exit 51' }).run('build', {})).toMatchObject({ status: 51 })
})

test('export takes what it trusts from the first container, and reports the digest', () => {
  const exporter = `printf '[image]\\n  tags = ["digest = %s"]\\n  digest = "${digest}"\\n' x >ROOT/tmp/report.toml; echo $CNB_USER_ID:$CNB_GROUP_ID`
  const { run, asked, path } = container({ exporter })
  expect(run('export', environment)).toEqual({ status: 0, output: `${process.getuid?.()}:${process.getgid?.()}\n` })
  for (const name of ['analyzed', 'project-metadata', 'stack'])
    expect(asked('exporter')).toContain(`-${name}=${path(`projectMetadata/${name}.toml`)}`)
  expect(asked('exporter')).toContain(`-cache-image=${environment.CACHE_IMAGE}`)
  expect(asked('exporter').at(-1)).toBe(environment.IMAGE_TAG)
  expect(readFileSync(path('dev/termination-log'), 'utf8')).toBe(digest)
})

test('an export without a digest is a failure', () => {
  const { run, path } = container({ exporter: "echo '[image]' >ROOT/tmp/report.toml" })
  expect(run('export', environment)).toMatchObject({ status: 62 })
  expect(existsSync(path('dev/termination-log'))).toBe(false)
})
