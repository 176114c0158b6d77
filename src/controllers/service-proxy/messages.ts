// What the Events about a Service say: figures and cure.
import type { ObjectEvent } from '../../kube/object/events.ts'
import type { Change, Decision, Facts } from './decide.ts'

const figure = (number: number): string => number.toLocaleString('en-US')

/** For a Service whose label has been changed; undefined where its owner need not know. */
export function eventOf({ service, to }: Change, { pairs }: Decision, { maxPairs }: Facts): ObjectEvent | undefined {
  if (to !== 'beyond' && service.label !== 'beyond') return undefined
  if (to !== 'beyond')
    return {
      type: 'Normal',
      reason: 'EndpointsWithinBound',
      message: `the Services of the namespace have at most ${figure(maxPairs)} pairs of port and endpoint with this one again: its cluster IP answers`,
    }
  const own = `this one has ${service.ports} ports × ${service.endpoints} endpoints = ${figure(service.ports * service.endpoints)}`
  return {
    type: 'Warning',
    reason: 'TooManyEndpoints',
    message: `the Services of the namespace have ${figure(pairs)} pairs of port and endpoint, at most ${figure(maxPairs)} are served, and ${own}: its cluster IP does not answer. Run fewer pods behind it, remove ports or Services with the same pods, or replace it by one without a cluster IP (spec.clusterIP: None)`,
  }
}
