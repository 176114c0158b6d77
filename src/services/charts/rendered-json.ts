// What a chart answered, as text: parsed, bounded and checked before anything else sees it. Pure.
import type { ChartOutcome } from './chart-input.ts'

/** Objects of Kubernetes are about ten levels deep; what walks them recursively must not run out of stack. */
const deepest = 64

function failed(message: string): ChartOutcome {
  return { kind: 'failed', message }
}

/** The first thing wrong inside; undefined when all is well. Not recursive: the depth is what is checked. */
function fault(value: unknown): string | undefined {
  let level: unknown[] = [value]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > deepest) return `chart rendered objects more than ${deepest} levels deep`
    const next: unknown[] = []
    for (const one of level) {
      if (typeof one !== 'object' || one === null) continue
      // JSON.parse makes an ordinary field of it; whoever assigns the fields to another object would set its prototype.
      if (Object.hasOwn(one, '__proto__')) return 'chart rendered a field named __proto__'
      next.push(...Object.values(one))
    }
    level = next
  }
  return undefined
}

/** The outcome of a rendering that answered with this text. `longest` in UTF-16 units. */
export function readRendered(json: string, longest: number): ChartOutcome {
  if (json.length > longest) return failed(`chart rendered more than ${longest} characters of JSON`)
  let objects: unknown
  try {
    objects = JSON.parse(json)
  } catch {
    return failed('chart answered with something that is not JSON')
  }
  if (!Array.isArray(objects)) return failed('chart must return an array of Kubernetes objects')
  const found = fault(objects)
  return found === undefined ? { kind: 'rendered', objects, length: json.length } : failed(found)
}
