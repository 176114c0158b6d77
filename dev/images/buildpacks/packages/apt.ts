// apt in folders of the build: it needs no root, changes nothing of the image, and never runs a script of a package. Its sources
// are those of the image, whose indexes Debian signed; no variable of the build reaches it.
import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { BuildFailure } from '../shared/build-failure.ts'
import type { Environment } from '../shared/config.ts'

export type FetchedFile = { readonly file: string; readonly bytes: number; readonly hash: string }

export type AptFolders = {
  /** Indexes. */
  readonly lists: string
  /** Downloaded packages. */
  readonly archives: string
  readonly scratch: string
  /** In the form of /var/lib/dpkg/status: what the app's image has. */
  readonly installed: string
}

export type Apt = {
  readonly update: () => void
  /** What has to be fetched for `names`, with all that they depend on. */
  readonly plan: (names: readonly string[]) => readonly FetchedFile[]
  readonly fetch: (names: readonly string[]) => void
}

const updateMilliseconds = 120_000
const fetchMilliseconds = 300_000
const maxOutput = 1 << 24
const proxies = ['http_proxy', 'https_proxy', 'no_proxy', 'HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY']

export function openApt(folders: AptFolders, environment: Environment): Apt {
  for (const folder of [join(folders.lists, 'partial'), join(folders.archives, 'partial'), folders.scratch])
    mkdirSync(folder, { recursive: true })
  const config = join(folders.scratch, 'apt.conf')
  writeFileSync(config, configuration(folders))
  const env = {
    PATH: environment['PATH'],
    LC_ALL: 'C',
    APT_CONFIG: config,
    ...Object.fromEntries(proxies.map(name => [name, environment[name]])),
  }
  const run = (timeout: number, words: readonly string[]): string => {
    const { status, stdout, stderr, error } = spawnSync('apt-get', words, {
      env,
      encoding: 'utf8',
      timeout,
      maxBuffer: maxOutput,
    })
    if (error !== undefined || status !== 0) throw new BuildFailure(failureOf(stderr ?? '', error))
    return stdout
  }
  const install = (names: readonly string[]): readonly string[] => ['install', '-y', '--no-install-recommends', ...names]
  return {
    update: () => void run(updateMilliseconds, ['update', '-q']),
    plan: names => parseFiles(run(updateMilliseconds, ['-qq', '--print-uris', ...install(names)])),
    fetch: names => void run(fetchMilliseconds, ['-q', '--download-only', ...install(names)]),
  }
}

function configuration({ lists, archives, scratch, installed }: AptFolders): string {
  const values: Readonly<Record<string, string>> = {
    'Dir::State': scratch,
    'Dir::State::lists': lists,
    'Dir::State::status': installed,
    'Dir::Cache': scratch,
    'Dir::Cache::archives': archives,
    'Dir::Log': scratch,
    'Debug::NoLocking': 'true',
    'Acquire::Retries': '3',
    'Acquire::http::Timeout': '30',
    'Acquire::https::Timeout': '30',
    'Acquire::Languages': 'none',
    'Acquire::ForceHash': 'sha256',
    // Without it a name that no package has is taken as a regular expression.
    'APT::Cmd::Pattern-Only': 'true',
    'APT::Sandbox::User': '',
    'APT::Get::AllowUnauthenticated': 'false',
    'APT::Update::Error-Mode': 'any',
  }
  return Object.entries(values)
    .map(([name, value]) => `${name} "${value}";\n`)
    .join('')
}

/** The lines of `--print-uris`: 'URL' FILE SIZE HASH. Throws for a line of another form: nothing is left out in silence. */
export function parseFiles(text: string): readonly FetchedFile[] {
  return text.split('\n').flatMap(line => {
    if (!line.startsWith("'")) return []
    const [, file, bytes, hash] = /^'[^']+' (\S+) (\d+) (\w+:[0-9a-f]+)$/.exec(line.trim()) ?? []
    if (file === undefined || hash === undefined) throw new Error(`apt printed a line of another form: ${line}`)
    return [{ file, bytes: Number(bytes), hash }]
  })
}

/** A sentence for the owner from what apt printed. Pure. */
export function failureOf(output: string, error?: { readonly code?: string; readonly message: string }): string {
  if (error?.code === 'ENOENT')
    return 'this builder has no apt: build with a Dockerfile, or with another builder (spec.build.builder)'
  if (error?.code === 'ETIMEDOUT') return "Debian's archive answers too slowly: try again later"
  const unknown = [...output.matchAll(/^E: (?:Unable to locate package (\S+)|Package '(\S+)' has no installation candidate)/gm)]
  const names = unknown.flatMap(([, one, other]) => one ?? other ?? [])
  if (names.length > 0)
    return `Debian 12 has no package ${names.join(', ')}: correct the name in Aptfile (https://packages.debian.org/bookworm/)`
  const away =
    /(?:Could not (?:resolve|connect to)|Temporary failure resolving|Connection (?:failed|timed out)|Unable to connect to|Cannot initiate the connection to)\s*'?([\w.-]*)/.exec(
      output,
    )
  if (away !== null) return `Debian's archive cannot be reached (${away[0].trim()}): try again later, or ask a platform admin`
  const refused = /^(?:E|W|Err):.*?\s(40[0-9]|50[0-9])\s+([^\n[]+)/m.exec(output)
  if (refused !== null)
    return `Debian's archive refuses the request (${refused[1]} ${refused[2]?.trim()}): try again later, or ask a platform admin`
  const unmet = /^\s*(\S+ : (?:Depends|Conflicts|PreDepends): .+)$/m.exec(output)?.[1]
  if (unmet !== undefined) return `the packages of Aptfile do not fit together: ${unmet.trim()}`
  const said = output.split('\n').findLast(line => line.startsWith('E: '))
  return `apt failed${said === undefined ? '' : `: ${said.slice('E: '.length)}`}`
}
