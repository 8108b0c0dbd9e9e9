// Stands in front of one function of the library.
using System;
using System.Reflection;
using Inlay;
using Inlay.Raw;

/// <summary>Until it is disposed, calls of a function go to a static method of the test's.</summary>
sealed class Replaced : IDisposable
{
    readonly FieldInfo _field;
    readonly object _own;

    internal Replaced(string function, Type type, string method)
    {
        _field = typeof(Api).GetField("_" + function, BindingFlags.NonPublic | BindingFlags.Instance);
        if (!typeof(Delegate).IsAssignableFrom(_field.FieldType)) throw new Skipped("the functions are no delegates on this runtime");
        _own = _field.GetValue(Library.Api);
        MethodInfo instead = type.GetMethod(method, BindingFlags.NonPublic | BindingFlags.Static);
        _field.SetValue(Library.Api, Delegate.CreateDelegate(_field.FieldType, instead));
    }

    public void Dispose() { _field.SetValue(Library.Api, _own); }
}
