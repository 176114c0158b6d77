// What arguments must look like, told before anything is asked of the platform. commander adds the option's name to what is thrown here.
import { InvalidArgumentError } from 'commander'

/** A whole number from 1 to `most`; stays text, because it goes into a query. */
export function countUpTo(most: number): (text: string) => string {
  return text => {
    if (/^[1-9][0-9]{0,8}$/.test(text) && Number(text) <= most) return text
    throw new InvalidArgumentError(`It must be a whole number from 1 to ${most}.`)
  }
}

/** kubectl would send the person's token there: never over plain http. */
export function httpsUrl(text: string): string {
  if (URL.canParse(text) && new URL(text).protocol === 'https:') return text
  throw new InvalidArgumentError('It must be an https URL such as https://10.0.0.1:6443.')
}

/** RFC 1123 label, as Kubernetes wants it of namespaces. */
export function namespaceName(text: string): string {
  if (/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(text)) return text
  throw new InvalidArgumentError('It must be the name of a namespace: lower-case letters, digits and dashes.')
}
