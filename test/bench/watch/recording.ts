// The bytes that both sides read: lists and watch events in the API server's format, made from one Application that a real API
// server returned (recorded-application.json, with managed fields and status). Object n differs by name, namespace, uid and
// version. Pure.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Application } from '../../../src/api/apps/application.ts'

export const firstVersion = 1_000_000

const text = JSON.stringify(JSON.parse(readFileSync(join(import.meta.dirname, 'recorded-application.json'), 'utf8')))
const recorded = JSON.parse(text) as Application
const { name, namespace = '', uid = '', resourceVersion = '' } = recorded.metadata

/** The recorded object with other names and versions; everything else is unchanged. */
function objectText(number: number, version: number): string {
  return text
    .replaceAll(`"name":"${name}"`, `"name":"app-${number}"`)
    .replaceAll(`"namespace":"${namespace}"`, `"namespace":"tenant-${number % 100}"`)
    .replaceAll(`"${uid}"`, `"${uid.slice(0, 24)}${number.toString(16).padStart(12, '0')}"`)
    .replaceAll(`"resourceVersion":"${resourceVersion}"`, `"resourceVersion":"${version}"`)
}

export type Page = { readonly from: number; readonly limit: number; readonly objects: number }

/** One answer of a list, as the API server writes it for a custom resource. */
export function listText({ from, limit, objects }: Page): string {
  const until = Math.min(objects, from + limit)
  const items: string[] = []
  for (let number = from; number < until; number++) items.push(objectText(number, firstVersion - objects + number))
  const metadata = {
    ...(until < objects ? { continue: String(until), remainingItemCount: objects - until } : { continue: '' }),
    resourceVersion: String(firstVersion),
  }
  return `{"apiVersion":"${recorded.apiVersion}","items":[${items.join(',')}],"kind":"ApplicationList","metadata":${JSON.stringify(metadata)}}\n`
}

/** Changes of the listed objects in turn, each with the next version: one line for each event. */
export function eventsBytes(objects: number, events: number): Buffer {
  const lines: Buffer[] = []
  for (let number = 0; number < events; number++)
    lines.push(Buffer.from(`{"type":"MODIFIED","object":${objectText(number % objects, firstVersion + 1 + number)}}\n`))
  return Buffer.concat(lines)
}
