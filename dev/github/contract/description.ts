// What GitHub's OpenAPI description says about the routes of the emulator. It reads the description, never a response.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { RestRoute } from '../rest/route.ts'

export const descriptions = ['api.github.com', 'ghes-3.19'] as const
export type DescriptionName = (typeof descriptions)[number]

type Operation = { readonly operationId: string; readonly responses: Readonly<Record<string, unknown>> }
type Document = { readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>> }

export type DescribedRoute = {
  /** As in `apps/get-authenticated`. */
  readonly operationId: string
  /** The success statuses in the description. */
  readonly successes: readonly number[]
}

/** Finds routes in one description; reading it takes a few tenths of a second. */
export function openDescription(name: DescriptionName): (route: RestRoute) => DescribedRoute | undefined {
  const file = createRequire(import.meta.url).resolve(`@octokit/openapi/generated/${name}.json`)
  const { paths } = JSON.parse(readFileSync(file, 'utf8')) as Document
  return route => {
    const operation = paths[route.path]?.[route.method.toLowerCase()]
    return (
      operation && {
        operationId: operation.operationId,
        successes: Object.keys(operation.responses)
          .map(Number)
          .filter(status => status >= 200 && status < 400 && status !== 304),
      }
    )
  }
}
