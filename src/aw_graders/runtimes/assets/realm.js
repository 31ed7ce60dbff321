// The realm of a grader script: what there is, what is taken away, and how an answer becomes text.
//
// Everything that is used after the script began was put aside before, because the script may change
// what it can reach. No function here is called with anything but text from the other side.
(function start() {
  "use strict";

  const { apply, ownKeys, getOwnPropertyDescriptor: describe, defineProperty } = Reflect;
  const { freeze, getPrototypeOf, hasOwn } = Object;
  const { isArray } = Array;
  const { isFinite } = Number;
  const { parse, stringify } = JSON;
  const makeTypeError = TypeError;
  const makeMap = Map;
  const floor = Math.floor;
  const execute = RegExp.prototype.exec;
  const slice = String.prototype.slice;
  const charCodeAt = String.prototype.charCodeAt;
  const join = Array.prototype.join;
  const values = Array.prototype.values;
  const mapGet = Map.prototype.get;
  const mapHas = Map.prototype.has;
  const mapSet = Map.prototype.set;

  const MAX_TEXT = 10000;
  const MAX_DEPTH = 100;
  const SCRIPT_NAME = "grader.js";

  // What a script may see of the language. Whatever an engine adds stays away until it is listed.
  const KEPT = [
    "AggregateError", "Array", "ArrayBuffer", "BigInt", "BigInt64Array", "BigUint64Array", "Boolean",
    "DataView", "Error", "EvalError", "Float16Array", "Float32Array", "Float64Array", "Infinity",
    "Int16Array", "Int32Array", "Int8Array", "Iterator", "JSON", "Map", "Math", "NaN", "Number",
    "Object", "Promise", "Proxy", "RangeError", "ReferenceError", "Reflect", "RegExp", "Set", "String",
    "Symbol", "SyntaxError", "TypeError", "URIError", "Uint16Array", "Uint32Array", "Uint8Array",
    "Uint8ClampedArray", "WeakMap", "WeakSet", "decodeURI", "decodeURIComponent", "encodeURI",
    "encodeURIComponent", "escape", "isFinite", "isNaN", "parseFloat", "parseInt", "undefined",
    "unescape",
  ];
  for (const name of ownKeys(globalThis)) {
    if (!KEPT.includes(name) && name !== "globalThis") delete globalThis[name];
  }
  delete Math.random;
  // These answer in the language of the machine.
  for (const owner of [Array, BigInt, Number, Object, String, getPrototypeOf(Int8Array)]) {
    delete owner.prototype.toLocaleString;
  }
  for (const name of ["localeCompare", "toLocaleLowerCase", "toLocaleUpperCase"]) {
    delete String.prototype[name];
  }

  // Places of the host's own files would differ from one machine to another.
  delete Error.captureStackTrace;
  const ofScript = (error, sites) => {
    let text = headOf(error);
    for (let index = 0; index < sites.length; index += 1) {
      const site = sites[index];
      if (site.getFileName() === SCRIPT_NAME) {
        text += `\n    at ${SCRIPT_NAME}:${site.getLineNumber()}:${site.getColumnNumber()}`;
      }
    }
    return text;
  };
  lock(Error, "prepareStackTrace", ofScript);
  lock(Error, "stackTraceLimit", 20);
  for (const name of ownKeys(globalThis)) {
    const property = describe(globalThis, name);
    if (property.configurable) {
      defineProperty(globalThis, name, { value: property.value, writable: false, configurable: false });
    }
  }
  freeze(Math);
  freeze(JSON);
  freeze(Reflect);
  freeze(globalThis);

  function lock(owner, name, value) {
    defineProperty(owner, name, { value, writable: false, configurable: false, enumerable: false });
  }

  // --- What the script gets -----------------------------------------------------------------

  function frozen(root) {
    // Without recursion: a session may be nested deeply.
    const left = [root];
    let count = 1;
    while (count > 0) {
      count -= 1;
      const item = left[count];
      if (typeof item !== "object" || item === null) continue;
      const keys = ownKeys(item);
      for (let index = 0; index < keys.length; index += 1) {
        const value = item[keys[index]];
        if (typeof value === "object" && value !== null) {
          left[count] = value;
          count += 1;
        }
      }
      freeze(item);
    }
    return root;
  }

  function picked(session, indexes) {
    const events = [];
    for (let index = 0; index < indexes.length; index += 1) {
      defineProperty(events, index, {
        value: session[indexes[index]], writable: true, configurable: true, enumerable: true,
      });
    }
    return freeze(events);
  }

  function makeLookups(session, given) {
    const byType = new makeMap();
    for (const [type, indexes] of given.eventsByType) byType.set(type, picked(session, indexes));
    const toolCalls = frozen(given.toolCalls);
    const byId = new makeMap();
    for (const [key, index] of given.toolCallsById) byId.set(key, toolCalls[index]);
    const keys = freeze([...byId.keys()]);
    const nothing = freeze([]);
    const events = (type) => (apply(mapHas, byType, [type]) ? apply(mapGet, byType, [type]) : nothing);
    return freeze({
      stats: frozen(given.stats),
      eventsOfType: freeze(function eventsOfType(type) {
        return events(type);
      }),
      toolCalls,
      toolCallsById: freeze({
        get: freeze((key) => apply(mapGet, byId, [key])),
        has: freeze((key) => apply(mapHas, byId, [key])),
        keys: freeze(() => apply(values, keys, [])),
        size: keys.length,
      }),
      trace: freeze({
        toolCalls,
        steps: frozen(given.trace.steps),
        retryEvents: picked(session, given.trace.retryEvents),
        totals: frozen(given.trace.totals),
        artifacts: picked(session, given.trace.artifacts),
        trajectoryIR: frozen(given.trace.trajectoryIR),
      }),
    });
  }

  const RFC_3339 =
    /^(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(?:\.(\d+))?(?:[Zz]|([+-])(\d{2}):(\d{2}))$/;
  const DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

  function daysBefore(year, month, day) {
    // Days since 1970-01-01 in the Gregorian calendar, with years that begin in March.
    const shifted = month > 2 ? year : year - 1;
    const era = floor(shifted / 400);
    const inEra = shifted - era * 400;
    const inYear = floor((153 * (month > 2 ? month - 3 : month + 9) + 2) / 5) + day - 1;
    const days = inEra * 365 + floor(inEra / 4) - floor(inEra / 100) + inYear;
    return era * 146097 + days - 719468;
  }

  function timestampMs(text) {
    if (typeof text !== "string") return null;
    const parts = apply(execute, RFC_3339, [text]);
    if (parts === null) return null;
    const year = +parts[1], month = +parts[2], day = +parts[3];
    const hour = +parts[4], minute = +parts[5], second = +parts[6];
    const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
    if (month < 1 || month > 12 || day < 1) return null;
    if (day > DAYS[month - 1] + (month === 2 && isLeap ? 1 : 0)) return null;
    if (hour > 23 || minute > 59 || second > 60) return null;
    let offset = 0;
    if (parts[8] !== undefined) {
      const hours = +parts[9], minutes = +parts[10];
      if (hours > 23 || minutes > 59) return null;
      offset = (parts[8] === "-" ? -1 : 1) * (hours * 60 + minutes);
    }
    const digits = parts[7] === undefined ? "" : apply(slice, `${parts[7]}000`, [0, 3]);
    const fraction = digits === "" ? 0 : +digits;
    const minutesInAll = daysBefore(year, month, day) * 1440 + hour * 60 + minute - offset;
    return minutesInAll * 60000 + second * 1000 + fraction;
  }

  function makeHelpers(session, lookups) {
    return freeze({
      createSessionLookups: freeze(function createSessionLookups(given) {
        if (given !== session) {
          throw new makeTypeError("createSessionLookups takes the session that the grader was given");
        }
        return lookups;
      }),
      timestampMs: freeze(timestampMs),
      clamp: freeze(function clamp(value, low, high) {
        return value < low ? low : value > high ? high : value;
      }),
      ratio: freeze(function ratio(part, whole) {
        return whole === 0 ? null : part / whole;
      }),
      sum: freeze(function sum(list) {
        let total = 0;
        for (let index = 0; index < list.length; index += 1) total += list[index];
        return total;
      }),
    });
  }

  // --- What the script answers --------------------------------------------------------------

  class Breach {
    constructor(text) {
      // Not by assignment: that would call a setter which the script gave to all objects.
      defineProperty(this, "text", { __proto__: null, value: text });
    }
  }

  function kindOf(value) {
    if (value === null) return "null";
    if (value === undefined) return "nothing";
    if (typeof value === "number") return `${value}`;
    if (typeof value === "string") return "text";
    if (typeof value === "object") return isArray(value) ? "an array" : "an object";
    return `a ${typeof value}`;
  }

  function field(owner, name) {
    const property = describe(owner, name);
    if (property === undefined) return undefined;
    if (!hasOwn(property, "value")) throw new Breach(`"${name}" of the result is a getter`);
    return property.value;
  }

  function numberText(value, what) {
    if (value === null) return "null";
    if (typeof value !== "number") throw new Breach(`${what} is ${kindOf(value)}, not a number or null`);
    if (!isFinite(value)) throw new Breach(`${what} is ${kindOf(value)}, which is not finite`);
    return stringify(value);
  }

  function jsonText(value, depth) {
    if (value === null || typeof value === "boolean") return `${value}`;
    if (typeof value === "number") return numberText(value, 'a number in "diagnostics"');
    if (typeof value === "string") return stringify(value);
    if (typeof value !== "object") throw new Breach(`"diagnostics" holds ${kindOf(value)}`);
    if (depth === 0) throw new Breach(`"diagnostics" is nested more than ${MAX_DEPTH} deep`);
    return isArray(value) ? listText(value, depth) : recordText(value, depth);
  }

  function listText(list, depth) {
    const length = describe(list, "length").value;
    let text = "";
    for (let index = 0; index < length; index += 1) {
      const property = describe(list, index);
      // A hole would move what stands behind it.
      if (property === undefined) throw new Breach('"diagnostics" holds an array with nothing in a place');
      text += `${index === 0 ? "" : ","}${jsonText(partOf(property), depth - 1)}`;
    }
    return `[${text}]`;
  }

  function recordText(record, depth) {
    if (typeof record.toJSON === "function") throw new Breach(`"diagnostics" holds ${TO_JSON}`);
    const keys = ownKeys(record);
    let text = "";
    for (let index = 0; index < keys.length; index += 1) {
      const key = keys[index];
      const property = describe(record, key);
      if (property === undefined || typeof key !== "string" || !property.enumerable) continue;
      const part = partOf(property);
      if (part === undefined) continue;
      text += `${text === "" ? "" : ","}${stringify(key)}:${jsonText(part, depth - 1)}`;
    }
    return `{${text}}`;
  }

  function partOf(property) {
    if (!hasOwn(property, "value")) throw new Breach('"diagnostics" holds a getter');
    return property.value;
  }

  function resultText(result) {
    if (result === null || typeof result === "number") {
      return `{"value":${numberText(result, "the result")}}`;
    }
    if (typeof result !== "object") {
      throw new Breach(`the script returned ${kindOf(result)}, not a number, null, or an object with "value"`);
    }
    if (isArray(result)) {
      throw new Breach('the script returned an array, not a number, null, or an object with "value"');
    }
    // Also one that has a value: what it stands for is not there yet.
    if (typeof result.then === "function") {
      throw new Breach("the script returned a promise; a grader is synchronous");
    }
    if (typeof result.toJSON === "function") throw new Breach(`the result has ${TO_JSON}`);
    const value = field(result, "value");
    if (value === undefined) throw new Breach('the script returned an object without "value"');
    let text = `{"value":${numberText(value, '"value"')}`;
    for (let index = 0; index < TEXTS.length; index += 1) {
      const name = TEXTS[index];
      const part = field(result, name);
      if (part === undefined || part === null) continue;
      if (typeof part !== "string") throw new Breach(`"${name}" of the result is ${kindOf(part)}, not text`);
      text += `,"${name}":${stringify(textOf(part))}`;
    }
    const diagnostics = field(result, "diagnostics");
    if (diagnostics !== undefined && diagnostics !== null) {
      if (typeof diagnostics !== "object" || isArray(diagnostics)) {
        throw new Breach(`"diagnostics" of the result is ${kindOf(diagnostics)}, not an object`);
      }
      text += `,"diagnostics":${jsonText(diagnostics, MAX_DEPTH)}`;
    }
    return `${text}}`;
  }

  const TO_JSON = 'a method "toJSON", which is not asked: return plain data';
  const TEXTS = freeze(["message", "details"]);
  function textOf(value) {
    if (typeof value !== "string") return "";
    if (value.length <= MAX_TEXT) return value;
    // A character of two units is not cut in half.
    const last = apply(charCodeAt, value, [MAX_TEXT - 1]);
    return apply(slice, value, [0, last >= 0xd800 && last <= 0xdbff ? MAX_TEXT - 1 : MAX_TEXT]);
  }

  function headOf(error) {
    try {
      const name = textOf(error.name);
      const message = textOf(error.message);
      return message === "" ? name : name === "" ? message : `${name}: ${message}`;
    } catch {
      return "";
    }
  }

  // A line that `ofScript` wrote: the message, which stands before it, may name other places.
  const PLACE = /\n    at grader\.js:(\d{1,9}):(\d{1,9})/;

  function failureText(thrown) {
    let text = "the script threw something that does not say what it is";
    let line = null;
    let column = null;
    try {
      if (thrown instanceof Breach) return `{"error":${stringify(thrown.text)},"line":null,"column":null}`;
      if (typeof thrown === "object" && thrown !== null) {
        const head = headOf(thrown);
        if (head !== "") text = head;
        const place = apply(execute, PLACE, [textOf(thrown.stack)]);
        if (place !== null) {
          line = +place[1];
          column = +place[2];
        }
      } else {
        text = `the script threw ${typeof thrown === "string" ? textOf(thrown) : kindOf(thrown)}`;
      }
    } catch {
      // What was thrown fails when it is looked at; the sentence above is all there is to say.
    }
    return apply(join, ['{"error":', stringify(text), ',"line":', `${line}`, ',"column":', `${column}`, "}"], [""]);
  }

  // --- Loading and running ------------------------------------------------------------------

  let session;
  let config;
  let helpers;

  return function load(first, lookups, text) {
    if (typeof first === "string") {
      session = frozen(parse(text));
      config = frozen(parse(first));
      helpers = makeHelpers(session, makeLookups(session, parse(lookups)));
      return undefined;
    }
    try {
      return resultText(apply(first, undefined, [session, config, helpers]));
    } catch (thrown) {
      return failureText(thrown);
    }
  };
});
