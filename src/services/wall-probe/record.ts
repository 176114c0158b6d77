// How what is known about the walls is kept: one ConfigMap in the platform's namespace, from which the conditions of Tenants
// are made and with which a new leader goes on. Pure.
import { type ConfigMap, configMaps } from '../../api/builtin/index.ts'
import { wallRecord } from '../../api/wall-names.ts'
import { defined } from '../../lib/json/defined.ts'
import { asObject, parseJson, textAt } from '../../lib/json/json-value.ts'
import type { Finding } from './finding.ts'
import { walls } from './walls.ts'

/** What the leader recorded last. `more`: findings for which there was no room. */
export type WallRecord = { readonly findings: readonly Finding[]; readonly more: number }

/** In etcd an object has 1.5 MB at most, a line some 400 bytes. */
const maxLines = 1000

/** Undefined when nothing was recorded, or something that is not a record: then nothing is known. */
export function recordedWalls(record: ConfigMap | undefined): WallRecord | undefined {
  const text = record?.data?.['findings']
  if (text === undefined) return undefined
  const lines = text.split('\n').filter(line => line !== '')
  const findings = lines.map(readFinding)
  const more = Number(record?.data?.['more'] ?? 0)
  return findings.every(finding => finding !== undefined) && more >= 0 ? { findings, more } : undefined
}

function readFinding(line: string): Finding | undefined {
  const read = asObject(parseJson(line))
  const wall = walls.find(({ name }) => name === textAt(read, 'wall'))?.name
  const verdict = (['Off', 'Unknown'] as const).find(one => one === textAt(read, 'verdict'))
  const text = textAt(read, 'text')
  const where = textAt(read, 'where')
  if (wall === undefined || verdict === undefined || text === undefined) return undefined
  return { wall, verdict, text, ...defined({ where }) }
}

/** As it is applied. `state` is for people, `findings` has one JSON object in each line. */
export function recordOf(findings: readonly Finding[]) {
  const { apiVersion, kind } = configMaps
  const state = findings.some(({ verdict }) => verdict === 'Off') ? 'Off' : findings.length > 0 ? 'Unknown' : 'Holds'
  const lines = findings
    .slice(0, maxLines)
    .map(({ wall, verdict, where, text }) => JSON.stringify({ wall, verdict, where, text }))
  const more = Math.max(0, findings.length - maxLines)
  const data = { state, findings: lines.join('\n'), ...(more > 0 ? { more: String(more) } : {}) }
  return { apiVersion, kind, metadata: { ...wallRecord }, data }
}
