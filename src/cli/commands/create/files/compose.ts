// A compose file: the services that are built from the repository are processes, all others are not part of the platform. Pure,
// except that it loads the reader of YAML.
// Source: https://github.com/compose-spec/compose-spec/blob/main/spec.md
import { AppError, messageOf } from '../../../../lib/errors.ts'
import { defined } from '../../../../lib/json/defined.ts'
import { asObject, type JsonObject, listAt, objectAt, textAt } from '../../../../lib/json/json-value.ts'
import { type Found, type FoundProcess, inShell, most, processName, variablesOf, variableWithoutValue } from './found.ts'

/** Fields of `build` that are not taken over. */
const elsewhereInBuild: Readonly<Record<string, string>> = {
  args: 'build.args: build.dockerfile.args of the RemoteSync',
  target: 'build.target: build.dockerfile.target of the RemoteSync',
  secrets: 'build.secrets: build.secrets of the RemoteSync, with sekisho secrets set --no-attach',
}

/** Fields of a service that have a place of their own here, or none. */
const elsewhere: Readonly<Record<string, string>> = {
  volumes: 'volumes: spec.volumes of the Application keeps files',
  healthcheck: 'healthcheck: spec.processes[].healthPath or probes',
  env_file: 'env_file: sekisho env set and sekisho secrets set take what is in it',
  secrets: 'secrets: sekisho secrets set',
  configs: 'configs: a ConfigMap, by spec.envFrom',
  deploy: 'deploy: replicas, cpu and memory of spec.processes',
  networks: 'networks: applications of a namespace reach each other by the name of their Service',
  privileged: 'privileged: not possible',
}

type Service = { readonly name: string; readonly value: JsonObject }

/** Throws `invalid_request` for what is not YAML with services. */
export async function readCompose(file: string, text: string): Promise<Found> {
  const services = servicesIn(await parsed(file, text))
  if (services.length === 0) throw new AppError('invalid_request', `${file} has no services`)
  const built = services.filter(({ value }) => value['build'] !== undefined)
  const notes = services
    .filter(({ value }) => value['build'] === undefined)
    .slice(0, most.notes)
    .map(
      ({ name, value }) =>
        `service ${name} (${textAt(value, 'image') ?? 'no image'}): only what is built from the repository is taken over; bring the URL of a database with sekisho secrets set`,
    )
  const [first, ...others] = built
  if (first === undefined) return { file, notes }
  const { context, dockerfile } = buildOf(first.value)
  const isSame = ({ value }: Service): boolean => JSON.stringify(buildOf(value)) === JSON.stringify({ context, dockerfile })
  for (const { name } of others.filter(one => !isSame(one)).slice(0, most.notes))
    notes.push(`service ${name} is built otherwise: make an application of its own`)
  const own = [first, ...others.filter(isSame)]
  const variables = variablesOf(own.flatMap(({ value }) => environmentOf(value)))
  const left = own.flatMap(({ name, value }) =>
    [...saidOf(elsewhereInBuild, objectAt(value, 'build')), ...saidOf(elsewhere, value), ...withoutValue(value)].map(
      note => `service ${name}, ${note}`,
    ),
  )
  if (context !== '.') notes.push(`service ${first.name} is built in ${context}: spec.subPath of the RemoteSync`)
  return {
    file,
    build: { strategy: 'Dockerfile', ...(dockerfile === 'Dockerfile' ? {} : { dockerfile: { path: dockerfile } }) },
    processes: own.map((service, index) => processOf(service, index === 0)),
    env: variables.env,
    notes: [...notes, ...variables.notes, ...left],
  }
}

function saidOf(known: Readonly<Record<string, string>>, value: JsonObject | undefined): readonly string[] {
  return Object.entries(known).flatMap(([field, said]) => (value?.[field] === undefined ? [] : [said]))
}

async function parsed(file: string, text: string): Promise<JsonObject | undefined> {
  const { parse } = await import('yaml')
  try {
    // Aliases could multiply a small file.
    return asObject(parse(text, { maxAliasCount: 50, merge: true }))
  } catch (cause) {
    throw new AppError('invalid_request', `${file} is not YAML: ${messageOf(cause).split('\n')[0]}`, { cause })
  }
}

function servicesIn(value: JsonObject | undefined): readonly Service[] {
  return Object.entries(objectAt(value, 'services') ?? {}).flatMap(([name, service]) => {
    const object = asObject(service)
    return object === undefined ? [] : [{ name, value: object }]
  })
}

function buildOf(value: JsonObject): { readonly context: string; readonly dockerfile: string } {
  const build = asObject(value['build'])
  const context = (typeof value['build'] === 'string' ? value['build'] : textAt(build, 'context')) ?? '.'
  return { context: context.replace(/^\.\/|\/$/g, '') || '.', dockerfile: textAt(build, 'dockerfile') ?? 'Dockerfile' }
}

/** The service that publishes a port first is `web`. */
function processOf({ name, value }: Service, isFirst: boolean): FoundProcess {
  const command = value['command']
  const words = typeof command === 'string' ? inShell(command) : listAt(value, 'command').map(String)
  const port = portOf([...listAt(value, 'ports'), ...listAt(value, 'expose')])
  return {
    name: isFirst || (port !== undefined && name === 'web') ? 'web' : processName(name),
    ...(words.length === 0 ? {} : { command: words }),
    ...defined({ port }),
  }
}

/** The port in the container, of `8080:80`, `80/tcp` or `{target: 80}`. */
function portOf(ports: readonly unknown[]): number | undefined {
  const [first] = ports
  const text = typeof first === 'object' ? String(asObject(first)?.['target'] ?? '') : String(first ?? '')
  const port = Number(/(\d{1,5})(?:\/\w+)?$/.exec(text)?.[1])
  return port > 0 && port < 65_536 ? port : undefined
}

function environmentOf(value: JsonObject): readonly (readonly [string, string])[] {
  return pairsOf(value).flatMap(([name, text]) => (text === undefined ? [] : [[name, text] as const]))
}

/** Without a value it is the one of the computer where compose runs. */
function withoutValue(value: JsonObject): readonly string[] {
  return pairsOf(value)
    .filter(([, text]) => text === undefined)
    .slice(0, most.notes)
    .map(([name]) => variableWithoutValue(name))
}

function pairsOf(value: JsonObject): readonly (readonly [string, string | undefined])[] {
  const map = objectAt(value, 'environment')
  const pairs = map === undefined ? listAt(value, 'environment').map(line => String(line).split(/=(.*)/s)) : Object.entries(map)
  return pairs.map(([name, text]) => [String(name), text === undefined || text === null ? undefined : String(text)] as const)
}
