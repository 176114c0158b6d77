// The setting of the annotations that make the ingress controller redirect. Read once, at the start.
import { isReservedKey } from '../../../api/names.ts'
import type { Setting } from '../../../lib/config.ts'
import { type RedirectAnnotations, targetPlaceholder } from './redirects.ts'

const most = 10
const maxValue = 1024

/** Keys that already mean something on every Ingress of an Application. */
const otherKeys = ['kubernetes.io/ingress.class', 'kubectl.kubernetes.io/', 'cert-manager.io/']

const example = 'traefik.ingress.kubernetes.io/router.middlewares=sekisho-system-www@kubernetescrd'

/**
 * https://kubernetes.io/docs/concepts/overview/working-with-objects/annotations/#syntax-and-character-set; the prefix is
 * required.
 */
const keyPattern = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?\/[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/

/** A word in braces; `$` makes it a variable of the ingress controller. */
const placeholderPattern = /(?<!\$)\{\w*\}/g

function annotationOf(item: string): readonly [string, string] {
  const at = item.indexOf('=')
  const [key, value] = [item.slice(0, at), item.slice(at + 1)]
  if (at < 0 || !keyPattern.test(key) || value === '')
    throw new Error(`holds ${item.slice(0, 100)}; it must hold only annotations such as ${example}`)
  if (isReservedKey(key) || otherKeys.some(other => key.startsWith(other)))
    throw new Error(`holds ${key}, which the platform itself sets or forbids: remove it`)
  if (value.length > maxValue || !/^[\x20-\x7e]*$/.test(value))
    throw new Error(`holds a value of ${key} that is not at most ${maxValue} characters of ASCII: correct it`)
  const unknown = value.match(placeholderPattern)?.find(placeholder => placeholder !== targetPlaceholder)
  if (unknown !== undefined)
    throw new Error(`holds ${unknown} in ${key}; the only placeholder is ${targetPlaceholder}, the host to which people are led`)
  return [key, value]
}

/** @throws Error that continues the sentence “SEKISHO_REDIRECT_ANNOTATIONS …” */
function annotationsIn(text: string): RedirectAnnotations {
  // A comma that no further `key=` follows belongs to the value: a list of middlewares has them, too.
  const items = text
    .split(/,(?=[^,=]*=)/)
    .map(item => item.trim())
    .filter(item => item !== '')
  const annotations = items.map(annotationOf)
  if (annotations.length > most) throw new Error(`holds ${annotations.length} annotations; at most ${most} are allowed`)
  const keys = annotations.map(([key]) => key)
  const twice = keys.find((key, index) => keys.indexOf(key) !== index)
  if (twice !== undefined) throw new Error(`holds ${twice} twice: remove one of them`)
  return annotations
}

export const redirectAnnotationsSetting: Setting<RedirectAnnotations> = {
  name: 'SEKISHO_REDIRECT_ANNOTATIONS',
  description: `the annotations, as key=value separated by commas, by which the ingress controller redirects the hosts of spec.redirects of Applications; ${targetPlaceholder} stands for the host to which people are led, and without it only www.<host> is redirected, to <host> (docs/guide/install.md, section 6); nothing is redirected when not set`,
  kind: 'list',
  default: '',
  parse: annotationsIn,
}
