// The settings of the CLI: flags first, then environment variables, then the config file that `sekisho login` writes.
// The only file of the CLI that reads the environment of the process. It never contains a token.
import { homedir } from 'node:os'
import { delimiter, join, resolve } from 'node:path'
import { kubernetesClientId } from '../api/names.ts'
import { AppError } from '../lib/errors.ts'
import { isJsonObject } from '../lib/json/json-value.ts'
import { readJsonFile } from './files/private-file.ts'

export type CliFlags = {
  readonly issuer?: string | undefined
  readonly caFile?: string | undefined
  /** Of commands for programs: the token of a ServiceAccount instead of a login. */
  readonly tokenFile?: string | undefined
}

type CliFolders = {
  /** Contains one file per issuer and client, which only the user may read. */
  readonly tokens: string
  readonly configFile: string
  /** Contains the last verified entry of the audit log, per issuer. */
  readonly state: string
}

export type CliSettings = {
  /** The issuer's origin, such as https://sekisho.example.com. */
  readonly issuer: string
  readonly clientId: string
  /**
   * PEM file with the authority of the issuer's certificate, if it is not publicly trusted. An absolute path, because it is
   * saved.
   */
  readonly caFile: string | undefined
  readonly folders: CliFolders
}

export type SavedConfig = { readonly issuer?: string; readonly caFile?: string }

/**
 * Every environment variable that the CLI reads → what it says; for docs/reference/environment.md. Reading another one does not
 * compile.
 */
export const cliVariables = {
  SEKISHO_ISSUER: 'The URL of the platform, such as `https://sekisho.example.com`. The option `--issuer` takes precedence.',
  SEKISHO_CA_FILE:
    'A PEM file with the certificate authority of the platform, if it is not publicly trusted. The option `--ca-file` takes precedence.',
  SEKISHO_TOKEN_FOLDER: 'Where tokens are kept. Default: `sekisho/tokens` in the state folder.',
  SEKISHO_CONFIG_FILE:
    'Where `sekisho login` remembers the platform. Default: `sekisho/config.json` in the configuration folder.',
  SEKISHO_COMMAND:
    'The command that `sekisho kubeconfig` writes into kubeconfigs. Default: `sekisho`. The wrapper `bin/sekisho` sets it.',
  XDG_CACHE_HOME: 'The cache folder. Default: `~/.cache`.',
  XDG_CONFIG_HOME: 'The configuration folder. Default: `~/.config`.',
  XDG_STATE_HOME: 'The state folder: tokens, and the newest entry that `sekisho audit verify` saw. Default: `~/.local/state`.',
  HOME: 'The home folder of the user.',
  KUBECONFIG:
    'The kubeconfigs that commands read, merged as kubectl does it; `sekisho kubeconfig` writes the first one. Default: `~/.kube/config`.',
  KUBERNETES_EXEC_INFO: 'Set by kubectl when it runs `sekisho token`: names the version of the credential that it expects.',
  DISPLAY: 'On Linux, `sekisho login` opens a browser only if this or `WAYLAND_DISPLAY` is set.',
  WAYLAND_DISPLAY: 'See `DISPLAY`.',
} as const

/** An empty variable counts as not set, as the XDG base directory specification says about its own. */
function variable(environment: NodeJS.ProcessEnv, name: keyof typeof cliVariables): string | undefined {
  return environment[name] === '' ? undefined : environment[name]
}

function homeOf(environment: NodeJS.ProcessEnv): string {
  return variable(environment, 'HOME') ?? homedir()
}

/** The folders of the user, by the XDG base directory specification. */
function cliFolders(environment: NodeJS.ProcessEnv): CliFolders {
  const home = homeOf(environment)
  const config = variable(environment, 'XDG_CONFIG_HOME') ?? join(home, '.config')
  const state = variable(environment, 'XDG_STATE_HOME') ?? join(home, '.local', 'state')
  return {
    tokens: variable(environment, 'SEKISHO_TOKEN_FOLDER') ?? join(state, 'sekisho', 'tokens'),
    configFile: variable(environment, 'SEKISHO_CONFIG_FILE') ?? join(config, 'sekisho', 'config.json'),
    state: join(state, 'sekisho'),
  }
}

/** Where Node.js keeps compiled code between runs. */
export function compileCacheFolder(environment: NodeJS.ProcessEnv = process.env): string {
  return join(variable(environment, 'XDG_CACHE_HOME') ?? join(homeOf(environment), '.cache'), 'sekisho', 'compiled')
}

/** The command to write into kubeconfigs: the wrapper when it started this process, else the name on PATH. */
export function ownCommand(environment: NodeJS.ProcessEnv = process.env): string {
  return variable(environment, 'SEKISHO_COMMAND') ?? 'sekisho'
}

/** What kubectl passes to its exec plugin. */
export function execInfo(environment: NodeJS.ProcessEnv = process.env): string | undefined {
  return variable(environment, 'KUBERNETES_EXEC_INFO')
}

/** The files of KUBECONFIG, else ~/.kube/config: at least one. */
export function kubeconfigPaths(environment: NodeJS.ProcessEnv = process.env): readonly string[] {
  const given = (variable(environment, 'KUBECONFIG') ?? '').split(delimiter).filter(path => path !== '')
  return given.length > 0 ? given : [join(homeOf(environment), '.kube', 'config')]
}

/** The file that `sekisho kubeconfig` writes: the first of them. */
export function kubeconfigPath(environment: NodeJS.ProcessEnv = process.env): string {
  const [first = ''] = kubeconfigPaths(environment)
  return first
}

/** Whether a browser can be opened. */
export function hasDisplay(environment: NodeJS.ProcessEnv = process.env, platform: string = process.platform): boolean {
  return platform !== 'linux' || (['DISPLAY', 'WAYLAND_DISPLAY'] as const).some(name => variable(environment, name) !== undefined)
}

function issuerOf(text: string): string {
  if (!URL.canParse(text) || new URL(text).protocol !== 'https:')
    throw new AppError(
      'invalid_request',
      `the issuer (--issuer or SEKISHO_ISSUER) must be an https URL such as https://sekisho.example.com, not ${text.slice(0, 100)}`,
    )
  return new URL(text).origin
}

function isSavedConfig(value: unknown): value is SavedConfig {
  return isJsonObject(value) && ['issuer', 'caFile'].every(field => ['undefined', 'string'].includes(typeof value[field]))
}

/** Rejects with `invalid_request`, which says what to do, when no issuer is configured. */
export async function readCliSettings(flags: CliFlags, environment: NodeJS.ProcessEnv = process.env): Promise<CliSettings> {
  const folders = cliFolders(environment)
  const saved = await readJsonFile(folders.configFile, isSavedConfig)
  const issuer = flags.issuer ?? variable(environment, 'SEKISHO_ISSUER') ?? saved?.issuer
  if (issuer === undefined)
    throw new AppError('invalid_request', 'no issuer is configured: run sekisho login --issuer URL, or set SEKISHO_ISSUER')
  const caFile = flags.caFile ?? variable(environment, 'SEKISHO_CA_FILE') ?? saved?.caFile
  return {
    issuer: issuerOf(issuer),
    clientId: kubernetesClientId,
    caFile: caFile === undefined ? undefined : resolve(caFile),
    folders,
  }
}
