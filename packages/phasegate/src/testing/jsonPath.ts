import { isJsonObject, type Json, own } from '@phasegate/core';

/** Where a value lies in another: keys of objects, places in lists. */
export type JsonPath = readonly (string | number)[];

/** What lies there, or undefined. */
export function valueAt(value: Json | undefined, path: JsonPath): Json | undefined {
  return path.reduce<Json | undefined>((here, step) => own(here, String(step)), value);
}

/** The same value with another at this place; what is in the way gives way. */
export function withValueAt(value: Json | undefined, path: JsonPath, put: Json): Json {
  const [step, ...rest] = path;
  if (step === undefined) return put;
  if (typeof step === 'number') {
    const list = Array.isArray(value) ? [...value] : [];
    while (list.length <= step) list.push(null);
    list[step] = withValueAt(list[step], rest, put);
    return list;
  }
  const object = isJsonObject(value) ? value : {};
  return { ...object, [step]: withValueAt(own(object, step), rest, put) };
}
