// app.json of Heroku: name, variables, formation and schedules. Pure.
// Source: https://devcenter.heroku.com/articles/app-json-schema
import { AppError } from '../../../../lib/errors.ts'
import { asObject, integerAt, type JsonObject, objectAt, objectsAt, parseJson, textAt } from '../../../../lib/json/json-value.ts'
import {
  type Found,
  type FoundCron,
  type FoundProcess,
  inShell,
  most,
  processName,
  variablesOf,
  variableWithoutValue,
} from './found.ts'

const elsewhere: Readonly<Record<string, string>> = {
  addons: 'addons: databases are not part of the platform; bring the URL of one with sekisho secrets set',
  buildpacks: 'buildpacks: the platform chooses them by what is in the repository; spec.build.builder names another builder',
  environments: 'environments: previews of pull requests are an AppPipeline (docs/guide/previews.md)',
  image: 'image: the platform has an image of its own below applications',
  stack: 'stack: the platform has an image of its own below applications; a Dockerfile chooses another',
}

/** Throws `invalid_request` for what is not a JSON object. */
export function readAppJson(text: string): Found {
  const value = asObject(parseJson(text.replace(/^\uFEFF/, '')))
  if (value === undefined) throw new AppError('invalid_request', 'app.json is not a JSON object')
  const { plain, notes } = environmentOf(objectAt(value, 'env'))
  const variables = variablesOf(plain)
  const ignored = Object.keys(elsewhere).filter(field => isThere(value[field]))
  const cron = cronOf(objectsAt(value, 'cron'))
  return {
    file: 'app.json',
    name: textAt(value, 'name'),
    env: variables.env,
    processes: formationOf(objectAt(value, 'formation')),
    cron,
    notes: [
      ...notes,
      ...variables.notes,
      ...ignored.map(field => elsewhere[field] ?? field),
      ...scriptNotes(objectAt(value, 'scripts')),
    ],
  }
}

function isThere(value: unknown): boolean {
  return value !== undefined && !(Array.isArray(value) && value.length === 0)
}

function environmentOf(env: JsonObject = {}): {
  readonly plain: readonly (readonly [string, string])[]
  readonly notes: readonly string[]
} {
  const plain: (readonly [string, string])[] = []
  const notes: string[] = []
  for (const [name, described] of Object.entries(env).slice(0, most.variables + most.notes)) {
    const given = typeof described === 'string' ? described : textAt(asObject(described), 'value')
    const { generator, required } = asObject(described) ?? {}
    if (given !== undefined) plain.push([name, given])
    else if (generator === 'secret')
      notes.push(`variable ${name} is a random value: openssl rand -hex 32 | sekisho secrets set <application> ${name}=-`)
    else if (required !== false) notes.push(variableWithoutValue(name))
  }
  return { plain, notes }
}

function formationOf(formation: JsonObject = {}): readonly FoundProcess[] {
  return Object.entries(formation)
    .slice(0, most.processes)
    .flatMap(([name, value]) => {
      const replicas = integerAt(asObject(value), 'quantity')
      return replicas === undefined ? [] : [{ name: processName(name), replicas }]
    })
}

function cronOf(cron: readonly JsonObject[]): readonly FoundCron[] {
  return cron.slice(0, most.cron).flatMap((entry, index) => {
    const [command, schedule] = [textAt(entry, 'command'), textAt(entry, 'schedule')]
    return command === undefined || schedule === undefined
      ? []
      : [{ name: `cron-${index + 1}`, schedule, command: inShell(command) }]
  })
}

function scriptNotes(scripts: JsonObject | undefined): readonly string[] {
  const known: Readonly<Record<string, string>> = {
    postdeploy: 'scripts.postdeploy: spec.hooks.created of an AppPipeline runs it for each preview (docs/guide/previews.md)',
    'pr-predestroy': 'scripts.pr-predestroy: spec.hooks.deleted of an AppPipeline runs it (docs/guide/previews.md)',
  }
  return Object.keys(scripts ?? {}).flatMap(name => known[name] ?? [])
}
