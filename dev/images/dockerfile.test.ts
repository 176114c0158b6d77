// The Dockerfile at the root and our own image maker say the same: which files run, where, as whom and how. No container engine
// is needed to see that; whether the image builds is shown by building it.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { home, platformConfig, sourceFolders } from './recipes/platform.ts'

const root = join(import.meta.dirname, '../..')
const read = (name: string): string => readFileSync(join(root, name), 'utf8')

type Instruction = { readonly name: string; readonly text: string }

/**
 * https://docs.docker.com/reference/dockerfile/#format: one instruction per line, `\` continues it, `#` begins a comment line.
 */
const instructions: readonly Instruction[] = read('Dockerfile')
  .split('\n')
  .filter(line => !line.startsWith('#'))
  .join('\n')
  .replaceAll('\\\n', ' ')
  .split('\n')
  .filter(line => line.trim() !== '')
  .map(line => {
    const [, name = '', text = ''] = /^([A-Z]+)\s+(.*)$/.exec(line) ?? []
    return { name, text: text.replaceAll(/\s+/g, ' ').trim() }
  })
const lastFrom = instructions.findLastIndex(({ name }) => name === 'FROM')
const final = instructions.slice(lastFrom + 1)
const texts = (list: readonly Instruction[], name: string): readonly string[] =>
  list.filter(instruction => instruction.name === name).map(({ text }) => text)
const config = platformConfig()
const argument = (name: string): string => ['$', '{', name, '}'].join('')

describe('the Dockerfile', () => {
  test('has known instructions only, and every stage is used', () => {
    const known = new Set(['ARG', 'FROM', 'WORKDIR', 'COPY', 'RUN', 'ENV', 'LABEL', 'USER', 'ENTRYPOINT'])
    expect(instructions.filter(({ name }) => !known.has(name))).toEqual([])
    const stages = texts(instructions, 'FROM').flatMap(text => / AS (\w+)$/.exec(text)?.[1] ?? [])
    const used = [...texts(instructions, 'COPY'), ...texts(instructions, 'FROM')].join('\n')
    for (const stage of stages) expect(used).toMatch(new RegExp(`--from=${stage} |^${stage} AS|\n${stage} AS`))
  })

  test('names its base images by version, the Node.js that the project runs on among them', () => {
    const images = texts(instructions, 'ARG').map(text => text.split('='))
    expect(images).toEqual([
      ['NODE_IMAGE', `docker.io/library/node:${read('.node-version').trim()}-bookworm-slim`],
      ['DEBIAN_IMAGE', expect.stringMatching(/^docker\.io\/library\/debian:\d+\.\d+-slim$/)],
    ])
    expect(texts(instructions, 'FROM').map(text => text.split(' ')[0])).toEqual([
      argument('NODE_IMAGE'),
      'node',
      'node',
      argument('DEBIAN_IMAGE'),
    ])
  })

  test('copies the files of our own image to the same places, and nothing else of the machine that builds', () => {
    const copies = texts(final, 'COPY').map(text => text.split(' '))
    const ofContext = copies.filter(([first]) => !first?.startsWith('--from='))
    expect(ofContext.map(parts => parts[0]).sort()).toEqual(['package.json', ...sourceFolders].sort())
    for (const [from = '', to = ''] of ofContext) expect([from, './']).toContain(to)
    const ofStages = copies.filter(([first]) => first?.startsWith('--from='))
    expect(ofStages).toEqual([
      ['--from=node', '/usr/local/bin/node', '/usr/local/bin/node'],
      ['--from=packages', '/app/node_modules', 'node_modules'],
      ['--from=client', '/app/src/store/generated', 'src/store/generated'],
    ])
    for (const text of texts(instructions, 'COPY').filter(one => !one.startsWith('--from=')))
      for (const path of text.split(' ').slice(0, -1)) expect(existsSync(join(root, path)), path).toBe(true)
  })

  test('has in the stage that generates the database client all that the generator imports and the place where it writes', () => {
    const client = instructions.slice(instructions.findIndex(({ text }) => text.endsWith(' AS client')))
    const script =
      texts(client, 'RUN')
        .find(text => text.startsWith('node '))
        ?.split(' ')[1] ?? ''
    expect(texts(client, 'COPY').some(text => text.startsWith(`${script} `))).toBe(true)
    const source = read(script)
    expect([...source.matchAll(/from '(\.[^']*)'/g)].map(([, path]) => path)).toEqual([])
    const schema = texts(client, 'COPY').flatMap(text => text.split(' ').slice(0, -1))
    expect(schema).toContain('prisma')
    const [, output] = /output\s*=\s*"([^"]+)"/.exec(read('prisma/schema.prisma')) ?? []
    expect(join('/app/prisma', output ?? '')).toBe('/app/src/store/generated')
  })

  test('installs git, prlimit and the public authorities; packages for development and install scripts stay out', () => {
    expect(texts(final, 'RUN').join()).toMatch(/apt-get install --yes --no-install-recommends ca-certificates git util-linux /)
    const [, production] = texts(instructions, 'RUN').filter(text => text.startsWith('npm ci'))
    expect(production).toContain('--omit=dev')
    expect(read('.npmrc')).toContain('ignore-scripts=true')
  })

  test('runs as our own image does', () => {
    const environment = Object.fromEntries(
      texts(final, 'ENV')
        .join(' ')
        .split(' ')
        .map(pair => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]),
    )
    // Our own image has sources without types, which need a hook.
    const { NODE_OPTIONS: options = '', ...others } = config.environment ?? {}
    expect(environment).toEqual({ ...others, NODE_OPTIONS: options.replace(/ --import=\S+/, '') })
    expect(texts(final, 'USER')).toEqual([config.user])
    expect(texts(final, 'WORKDIR')).toEqual([`/${home}`])
    expect(texts(final, 'ENTRYPOINT').map(text => JSON.parse(text))).toEqual([config.entrypoint])
    expect(
      Object.fromEntries(
        texts(final, 'LABEL')
          .join(' ')
          .split(' ')
          .map(pair => pair.split('=')),
      ),
    ).toEqual(config.labels)
  })

  test('starts every process that serves requests without allocation-site pretenuring, as the forms do (docs/adr/0055)', () => {
    const forms = ['admission', 'broker', 'controllers'].map(name => read(`deploy/production/${name}.yaml`))
    const commands = [...forms, `command: [${config.entrypoint?.join(', ')}]`].map(
      text => /command: \[(node.*)\]/.exec(text)?.[1],
    )
    for (const command of commands) expect(command?.split(', ')).toContain('--no-allocation-site-pretenuring')
  })

  test('sees of the repository only what it copies: no tests, no examples, no state', () => {
    const lines = read('.dockerignore')
      .split('\n')
      .filter(line => line !== '' && !line.startsWith('#'))
    expect(lines[0]).toBe('*')
    const sent = lines.filter(line => line.startsWith('!')).map(line => line.slice(1))
    const copied = texts(instructions, 'COPY')
      .filter(text => !text.startsWith('--from='))
      .flatMap(text => text.split(' ').slice(0, -1))
    expect(sent.sort()).toEqual([...new Set(copied)].sort())
    expect(lines.filter(line => !line.startsWith('!'))).toEqual(['*', 'deploy/examples', 'src/store/generated', '**/*.test.ts'])
  })
})
